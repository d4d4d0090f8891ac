// FieldReader: the fields of an object whose every key must be understood.
//
// Like api::ObjectReader, the first error sticks and is asked for once, at the
// end; and a key that nobody has read by then is an error too:
//   model.hiden: is not a field here; did you mean hidden?
#ifndef API_MODEL_FIELD_READER_H_
#define API_MODEL_FIELD_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/json/reader.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

class FieldReader {
 public:
  // Absent (null) is an empty object. `value` must outlive the reader.
  FieldReader(const nlohmann::json& value, std::string path);

  // Whether the key is there and not null; it counts as read.
  bool Has(absl::string_view key);
  const nlohmann::json& At(absl::string_view key);

  // A size of a tensor: an integer from `min` to ModelConfig::kMaxExtent.
  // Required() refuses an object without it.
  int64_t Required(absl::string_view key, int64_t min = 1);
  int64_t Size(absl::string_view key, int64_t otherwise, int64_t min = 0);
  bool Bool(absl::string_view key, bool otherwise);
  std::string Text(absl::string_view key, absl::string_view otherwise = "");
  int Choice(absl::string_view key, const std::vector<std::string>& names);
  // A nested object; its errors are its own.
  FieldReader Object(absl::string_view key);

  // Notes that the value of `key` is wrong: `what` says what would be right.
  void Refuse(absl::string_view key, absl::string_view what);
  // Takes over the error of a nested reader.
  void Merge(const absl::Status& status) { reader_.Merge(status); }
  std::string Path(absl::string_view key) const { return reader_.Path(key); }

  // The first error. If there is none, refuses the first key that was never
  // read and is not `harmless`.
  absl::Status Finish(
      absl::FunctionRef<bool(absl::string_view, const nlohmann::json&)>
          harmless =
              [](absl::string_view, const nlohmann::json&) { return false; });

 private:
  void Know(absl::string_view key);

  const nlohmann::json& value_;
  ObjectReader reader_;
  std::vector<std::string> known_;
};

}  // namespace dynatrain::api

#endif  // API_MODEL_FIELD_READER_H_
