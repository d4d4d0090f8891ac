// ObjectReader: fields of a JSON object as values, without exceptions.
//
// The first error sticks and later reads give defaults, so that a codec reads
// all its fields and asks once. An error names the field by its path, its value
// and what would be right:
//   spec.elasticPolicy.minReplicas: 0 is not an integer in [1, 65536]
//
//   ObjectReader spec(json, "spec");
//   out.replicas = spec.Int("replicas", 0, kMaxReplicas, 1);
//   RETURN_IF_ERROR(spec.status());
#ifndef API_JSON_READER_H_
#define API_JSON_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

// Lists and objects in each other at most. Writing a value recurses, so a text
// of a few hundred kilobytes could overflow the stack without such a limit;
// what people and programs write has ten or twenty.
inline constexpr int kMaxJsonDepth = 200;

// Returns kInvalidArgument with line and column if `text` isn't one JSON value,
// and if it is nested deeper than kMaxJsonDepth. `filter` sees values as they
// are read and may leave them out.
absl::StatusOr<nlohmann::json> ParseJson(
    absl::string_view text,
    const nlohmann::json::parser_callback_t& filter = nullptr);

// The text of `value`; bytes that are not UTF-8 are replaced.
std::string DumpJson(const nlohmann::json& value);

class ObjectReader {
 public:
  // Absent (null) is an empty object. `value` must outlive the reader.
  ObjectReader(const nlohmann::json& value, std::string path);

  bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  // The value of `key`; null if absent.
  const nlohmann::json& At(absl::string_view key) const;
  std::string Path(absl::string_view key) const;
  const std::string& path() const { return path_; }

  // An absent field is `otherwise`.
  std::string Text(absl::string_view key, absl::string_view otherwise = "");
  bool Bool(absl::string_view key, bool otherwise = false);
  int64_t Int(absl::string_view key, int64_t min, int64_t max,
              int64_t otherwise);
  // Any number, whole or not.
  double Number(absl::string_view key, double min, double max,
                double otherwise);
  absl::Duration Seconds(absl::string_view key, int64_t min, int64_t max,
                         absl::Duration otherwise);
  // A list of integers; empty if absent.
  std::vector<int64_t> Ints(absl::string_view key, int64_t min, int64_t max);
  // RFC 3339; the epoch if absent.
  absl::Time Time(absl::string_view key);
  // Index in `names` of the text of `key`; 0 if absent.
  int Choice(absl::string_view key, const std::vector<std::string>& names);
  // The elements of a list; empty if absent.
  std::vector<ObjectReader> List(absl::string_view key);
  // A nested object; one that is absent is empty. Its errors are its own.
  ObjectReader Object(absl::string_view key) const;

  // Notes that `key` is wrong: `what` says what would be right.
  void Refuse(absl::string_view key, absl::string_view what);
  // Notes the first of `keys` that is absent, with a field that was written
  // instead if one looks like it.
  void Require(const std::vector<std::string>& keys);
  // Notes the first field that is none of `keys`, with the one that is nearest.
  void AllowOnly(const std::vector<std::string>& keys);
  // Takes over the error of a nested reader.
  void Merge(const absl::Status& status);

  const absl::Status& status() const { return status_; }

 private:
  const nlohmann::json* Find(absl::string_view key) const;

  const nlohmann::json* value_;
  std::string path_;
  absl::Status status_;
};

}  // namespace dynatrain::api

#endif  // API_JSON_READER_H_
