#include "api/json/reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;

// A static, because readers hold a reference.
const Json& Null() {
  static const Json* const null = new Json(nullptr);
  return *null;
}

// Values are shown to people: a template or a manifest would fill the screen.
std::string Shown(const Json& value) {
  constexpr size_t kMost = 60;
  std::string text = DumpJson(value);
  if (text.size() > kMost) text = text.substr(0, kMost - 3) + "...";
  return text;
}

// Whether lists and objects lie in each other more than kMaxJsonDepth deep. The
// text may be no JSON; only what is outside of its strings counts.
bool IsTooDeep(absl::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxJsonDepth) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text,
                               const Json::parser_callback_t& filter) {
  if (IsTooDeep(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("nested more than ", kMaxJsonDepth, " deep"));
  }
  try {
    return Json::parse(text.begin(), text.end(), filter);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 2, column 2: ...",
    // which ends with the last token, however long that is.
    constexpr size_t kMost = 160;
    absl::string_view what = error.what();
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    return absl::InvalidArgumentError(absl::StrCat(
        "not JSON: ", what.substr(0, kMost), what.size() > kMost ? "..." : ""));
  }
}

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ObjectReader::ObjectReader(const Json& value, std::string path)
    : value_(&value), path_(std::move(path)) {
  if (!value.is_object() && !value.is_null()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", Shown(value), " is not an object"));
    value_ = &Null();
  }
}

const Json* ObjectReader::Find(absl::string_view key) const {
  if (!value_->is_object()) return nullptr;
  const auto it = value_->find(std::string(key));
  return it == value_->end() || it->is_null() ? nullptr : &*it;
}

const Json& ObjectReader::At(absl::string_view key) const {
  const Json* found = Find(key);
  return found == nullptr ? Null() : *found;
}

std::string ObjectReader::Path(absl::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
}

void ObjectReader::Refuse(absl::string_view key, absl::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(Path(key), ": ", Shown(At(key)), " ", what));
}

void ObjectReader::Require(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (!status_.ok() || Has(key)) continue;
    std::vector<std::string> written;
    if (value_->is_object()) {
      for (const auto& item : value_->items()) {
        const bool known =
            std::find(keys.begin(), keys.end(), item.key()) != keys.end();
        if (!known) written.push_back(item.key());
      }
    }
    const std::optional<std::string> nearest = Nearest(key, written);
    status_ = absl::InvalidArgumentError(absl::StrCat(
        Path(key), " is missing",
        nearest.has_value()
            ? absl::StrCat("; is \"", *nearest, "\" what was meant?")
            : ""));
  }
}

void ObjectReader::AllowOnly(const std::vector<std::string>& keys) {
  if (!status_.ok() || !value_->is_object()) return;
  for (const auto& item : value_->items()) {
    if (std::find(keys.begin(), keys.end(), item.key()) != keys.end()) continue;
    const std::optional<std::string> nearest = Nearest(item.key(), keys);
    status_ = absl::InvalidArgumentError(absl::StrCat(
        Path(item.key()), " is no field here",
        nearest.has_value()
            ? absl::StrCat("; did you mean ", *nearest, "?")
            : absl::StrCat("; there are ", absl::StrJoin(keys, ", "))));
    return;
  }
}

void ObjectReader::Merge(const absl::Status& status) { status_.Update(status); }

std::string ObjectReader::Text(absl::string_view key,
                               absl::string_view otherwise) {
  const Json* found = Find(key);
  if (found == nullptr) return std::string(otherwise);
  if (!found->is_string()) {
    Refuse(key, "is not a text");
    return std::string(otherwise);
  }
  return found->get<std::string>();
}

bool ObjectReader::Bool(absl::string_view key, bool otherwise) {
  const Json* found = Find(key);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean()) {
    Refuse(key, "is neither true nor false");
    return otherwise;
  }
  return found->get<bool>();
}

int64_t ObjectReader::Int(absl::string_view key, int64_t min, int64_t max,
                          int64_t otherwise) {
  const Json* found = Find(key);
  if (found == nullptr) return otherwise;
  // A number above 2^63 would come out negative.
  const bool fits = found->is_number_integer() &&
                    (!found->is_number_unsigned() ||
                     found->get<uint64_t>() <= static_cast<uint64_t>(max));
  const int64_t value = fits ? found->get<int64_t>() : 0;
  if (!fits || value < min || value > max) {
    Refuse(key, absl::StrCat("is not an integer in [", min, ", ", max, "]"));
    return otherwise;
  }
  return value;
}

double ObjectReader::Number(absl::string_view key, double min, double max,
                            double otherwise) {
  const Json* found = Find(key);
  if (found == nullptr) return otherwise;
  const double value = found->is_number() ? found->get<double>() : 0;
  if (!found->is_number() || !(value >= min && value <= max)) {
    Refuse(key, absl::StrCat("is not a number in [", min, ", ", max, "]"));
    return otherwise;
  }
  return value;
}

std::vector<int64_t> ObjectReader::Ints(absl::string_view key, int64_t min,
                                        int64_t max) {
  std::vector<int64_t> numbers;
  const Json* found = Find(key);
  if (found == nullptr) return numbers;
  const auto fits = [&](const Json& value) {
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned()) {
      const uint64_t number = value.get<uint64_t>();
      return number <= static_cast<uint64_t>(max) &&
             static_cast<int64_t>(number) >= min;
    }
    return min <= value.get<int64_t>() && value.get<int64_t>() <= max;
  };
  bool all = found->is_array();
  if (all) numbers.reserve(found->size());
  for (size_t i = 0; all && i < found->size(); ++i) {
    all = fits((*found)[i]);
    if (all) numbers.push_back((*found)[i].get<int64_t>());
  }
  if (all) return numbers;
  Refuse(key,
         absl::StrCat("is not a list of integers in [", min, ", ", max, "]"));
  return {};
}

absl::Duration ObjectReader::Seconds(absl::string_view key, int64_t min,
                                     int64_t max, absl::Duration otherwise) {
  if (!Has(key)) return otherwise;
  return absl::Seconds(Int(key, min, max, absl::ToInt64Seconds(otherwise)));
}

absl::Time ObjectReader::Time(absl::string_view key) {
  const std::string text = Text(key);
  absl::Time time = absl::UnixEpoch();
  if (!text.empty() && !absl::ParseTime(absl::RFC3339_full, text, &time,
                                        /*err=*/nullptr)) {
    Refuse(key, "is not a time like 2026-01-31T12:00:00Z");
  }
  return time;
}

int ObjectReader::Choice(absl::string_view key,
                         const std::vector<std::string>& names) {
  const std::string text = Text(key, names[0]);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<int>(i);
  }
  Refuse(key, absl::StrCat("is not one of ", absl::StrJoin(names, ", ")));
  return 0;
}

std::vector<ObjectReader> ObjectReader::List(absl::string_view key) {
  std::vector<ObjectReader> elements;
  const Json* found = Find(key);
  if (found == nullptr) return elements;
  if (!found->is_array()) {
    Refuse(key, "is not a list");
    return elements;
  }
  for (size_t i = 0; i < found->size(); ++i) {
    elements.emplace_back((*found)[i], absl::StrCat(Path(key), "[", i, "]"));
  }
  return elements;
}

ObjectReader ObjectReader::Object(absl::string_view key) const {
  return ObjectReader(At(key), Path(key));
}

}  // namespace dynatrain::api
