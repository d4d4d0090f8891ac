#include "api/layout_file/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::api {

using Json = nlohmann::json;

// Walks the tree of yaml-cpp once.
class YamlReader {
 public:
  explicit YamlReader(YamlText& text) : text_(text) {}

  absl::StatusOr<Json> Read(const YAML::Node& node, const std::string& path) {
    const int line = node.Mark().line + 1;
    if (++nodes_ > kMaxYamlNodes) {
      return At(line, absl::StrCat("more than ", kMaxYamlNodes,
                                   " values, aliases counted as copies"));
    }
    if (!path.empty()) text_.line_of_path_.emplace(path, line);
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return Scalar(node);
      case YAML::NodeType::Sequence:
        return Sequence(node, path);
      case YAML::NodeType::Map:
        return Map(node, path);
      default:
        return Json(nullptr);
    }
  }

 private:
  static absl::Status At(int line, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
  }

  static Json Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    // yaml-cpp tags what is quoted with "!" and what isn't with "?".
    if (node.Tag() == "!") return text;
    if (text == "true" || text == "True") return true;
    if (text == "false" || text == "False") return false;
    int64_t integer = 0;
    if (absl::SimpleAtoi(text, &integer)) return integer;
    // Versions like 0.16.1 are no numbers; "nan" and "inf" are names.
    double real = 0;
    const bool digits =
        text.find_first_not_of("0123456789.eE+-") == std::string::npos;
    if (digits && absl::SimpleAtod(text, &real) && std::isfinite(real)) {
      return real;
    }
    return text;
  }

  absl::StatusOr<Json> Sequence(const YAML::Node& node,
                                const std::string& path) {
    Json list = Json::array();
    for (const YAML::Node& element : node) {
      ASSIGN_OR_RETURN(
          Json value, Read(element, absl::StrCat(path, "[", list.size(), "]")));
      list.push_back(std::move(value));
    }
    return list;
  }

  absl::StatusOr<Json> Map(const YAML::Node& node, const std::string& path) {
    Json map = Json::object();
    for (const auto& entry : node) {
      const int line = entry.first.Mark().line + 1;
      if (!entry.first.IsScalar()) return At(line, "a key that is no text");
      const std::string& key = entry.first.Scalar();
      const std::string inner =
          path.empty() ? key : absl::StrCat(path, ".", key);
      if (map.contains(key)) {
        return At(line, absl::StrCat(inner, ": comes twice"));
      }
      ASSIGN_OR_RETURN(Json value, Read(entry.second, inner));
      map[key] = std::move(value);
    }
    return map;
  }

  YamlText& text_;
  int nodes_ = 0;
};

// 0, 1, or 2 for more. yaml-cpp finds documents without end in a text that
// begins with a comma, so they are not all loaded.
static int CountDocuments(const std::string& text) {
  class Ignore : public YAML::EventHandler {
    using Mark = YAML::Mark;
    using Tag = const std::string&;
    void OnDocumentStart(const Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const Mark&, YAML::anchor_t) override {}
    void OnAlias(const Mark&, YAML::anchor_t) override {}
    void OnScalar(const Mark&, Tag, YAML::anchor_t, Tag) override {}
    void OnSequenceStart(const Mark&, Tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const Mark&, Tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  };
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Ignore ignore;
  int documents = 0;
  while (documents < 2 && parser.HandleNextDocument(ignore)) ++documents;
  return documents;
}

absl::StatusOr<YamlText> YamlText::Parse(absl::string_view text) {
  if (text.size() > kMaxYamlBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(text.size(), " bytes; at most ", kMaxYamlBytes));
  }
  YamlText result;
  try {
    const std::string whole(text);
    const int documents = CountDocuments(whole);
    if (documents != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(documents == 0 ? "no" : "more than one",
                       " YAML document; it has to be one"));
    }
    ASSIGN_OR_RETURN(result.root_,
                     YamlReader(result).Read(YAML::Load(whole), ""));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", error.mark.line + 1, ", column ",
                     error.mark.column + 1, ": not YAML: ", error.msg));
  }
  return result;
}

absl::Status YamlText::AtLine(const absl::Status& status) const {
  if (status.ok()) return status;
  // A path ends at the first character that none has.
  absl::string_view path = status.message();
  path = path.substr(0, path.find_first_of(": "));
  while (!path.empty()) {
    const auto it = line_of_path_.find(std::string(path));
    if (it != line_of_path_.end()) {
      return WithContext(status, absl::StrCat("line ", it->second));
    }
    const size_t cut = path.find_last_of(".[");
    path = path.substr(0, cut == absl::string_view::npos ? 0 : cut);
  }
  return status;
}

}  // namespace dynatrain::api
