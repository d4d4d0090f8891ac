// YAML (and JSON, which is YAML) from outside as a tree of JSON values, with
// the line of each for errors. Scalars have the types of YAML 1.2's core
// schema: null, true and false, integers, floats; all else and what is quoted
// is text.
//
//   ASSIGN_OR_RETURN(YamlText yaml, YamlText::Parse(text));
//   return yaml.AtLine(ReadLayout(yaml.root()));   // "line 7: world: 0 is ..."
#ifndef API_LAYOUT_FILE_YAML_H_
#define API_LAYOUT_FILE_YAML_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

// Bytes of a text at most, and nodes that it stands for: aliases are copied, so
// a small text could stand for a very large tree.
inline constexpr size_t kMaxYamlBytes = size_t{4} << 20;
inline constexpr int kMaxYamlNodes = 1 << 18;

class YamlText {
 public:
  // Returns kInvalidArgument with the line if `text` isn't one YAML document,
  // is too large, or has a map with a key that is no text or comes twice.
  static absl::StatusOr<YamlText> Parse(absl::string_view text);

  const nlohmann::json& root() const { return root_; }

  // `status` with the line of the field that begins its message (by its path,
  // "parallelism.tp: ..."), if there is such a field or one that contains it.
  absl::Status AtLine(const absl::Status& status) const;

 private:
  friend class YamlReader;
  YamlText() = default;

  nlohmann::json root_;
  absl::flat_hash_map<std::string, int> line_of_path_;
};

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_YAML_H_
