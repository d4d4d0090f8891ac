#include "api/model/field_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest.h"
#include "vps/model/model_config.h"

namespace dynatrain::api {

using Json = nlohmann::json;

FieldReader::FieldReader(const Json& value, std::string path)
    : value_(value), reader_(value, std::move(path)) {}

void FieldReader::Know(absl::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
    known_.emplace_back(key);
  }
}

bool FieldReader::Has(absl::string_view key) {
  Know(key);
  return reader_.Has(key);
}

const Json& FieldReader::At(absl::string_view key) {
  Know(key);
  return reader_.At(key);
}

int64_t FieldReader::Required(absl::string_view key, int64_t min) {
  if (!Has(key)) {
    reader_.Merge(absl::InvalidArgumentError(
        absl::StrCat(Path(key), ": is missing; it is an integer from ", min)));
    return min;
  }
  return Size(key, min, min);
}

int64_t FieldReader::Size(absl::string_view key, int64_t otherwise,
                          int64_t min) {
  Know(key);
  return reader_.Int(key, min, vps::ModelConfig::kMaxExtent, otherwise);
}

bool FieldReader::Bool(absl::string_view key, bool otherwise) {
  Know(key);
  return reader_.Bool(key, otherwise);
}

std::string FieldReader::Text(absl::string_view key,
                              absl::string_view otherwise) {
  Know(key);
  return reader_.Text(key, otherwise);
}

int FieldReader::Choice(absl::string_view key,
                        const std::vector<std::string>& names) {
  Know(key);
  return reader_.Choice(key, names);
}

FieldReader FieldReader::Object(absl::string_view key) {
  Know(key);
  return FieldReader(reader_.At(key), Path(key));
}

void FieldReader::Refuse(absl::string_view key, absl::string_view what) {
  reader_.Refuse(key, what);
}

absl::Status FieldReader::Finish(
    absl::FunctionRef<bool(absl::string_view, const Json&)> harmless) {
  if (!reader_.status().ok() || !value_.is_object()) return reader_.status();
  for (const auto& [key, value] : value_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    if (value.is_null() || harmless(key, value)) continue;
    const std::string shown = absl::CHexEscape(key.substr(0, 64));
    const std::string meant = DidYouMean(shown, known_);
    return absl::InvalidArgumentError(absl::StrCat(
        Path(shown), ": is not a field here",
        meant.empty()
            ? absl::StrCat("; there are ", absl::StrJoin(known_, ", "))
            : meant));
  }
  return absl::OkStatus();
}

}  // namespace dynatrain::api
