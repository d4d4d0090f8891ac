#include "api/layout_text/layout_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/nearest.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;

struct Range {
  absl::string_view name;
  int64_t min = 1;
  int64_t max = vps::kMaxWorldSize;
};

constexpr std::array<Range, 12> kEntries = {{{"tp"},
                                             {"pp"},
                                             {"dp"},
                                             {"cp"},
                                             {"ep"},
                                             {"etp"},
                                             {"vpp"},
                                             {"first"},
                                             {"last"},
                                             {"zero", 0, 1},
                                             {"instances"},
                                             {"world"}}};

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Range& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

absl::Status Wrong(absl::string_view entry, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(entry.substr(0, 32)), "\" ", what));
}

absl::Status Unknown(absl::string_view entry, absl::string_view name) {
  const std::string near = DidYouMean(name, Names());
  return Wrong(
      entry,
      absl::StrCat("is no entry of a layout",
                   near.empty() ? absl::StrCat("; there are ",
                                               absl::StrJoin(Names(), ", "),
                                               ", each with a number: tp8")
                                : near));
}

}  // namespace

bool LayoutText::Is(absl::string_view text) {
  return text != "-" && text.find_first_of("./") == absl::string_view::npos;
}

absl::StatusOr<LayoutText> LayoutText::Parse(absl::string_view text) {
  LayoutText result;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    if (entry.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", absl::CHexEscape(text.substr(0, 64)),
                       "\": an entry is empty; write it like tp8,pp4,dp4"));
    }
    const size_t digits = entry.find_first_of("0123456789");
    const absl::string_view name = entry.substr(0, digits);
    const auto known =
        std::find_if(kEntries.begin(), kEntries.end(),
                     [&](const Range& it) { return it.name == name; });
    if (known == kEntries.end()) return Unknown(entry, name);
    // Without a sign, blanks or leading zeros.
    const absl::string_view number = entry.substr(name.size());
    int64_t value = 0;
    if (!absl::SimpleAtoi(number, &value) || absl::StrCat(value) != number) {
      return Wrong(entry, absl::StrCat("needs a whole number: ", name,
                                       known->min == 0 ? "1" : "4"));
    }
    if (value < known->min || value > known->max) {
      return Wrong(entry, absl::StrCat("is out of range; ", name, " is ",
                                       known->min, " to ", known->max));
    }
    if (result.Get(name).has_value()) {
      return Wrong(entry, absl::StrCat("is the second ", name));
    }
    result.entries_.push_back({std::string(name), value});
  }
  if (result.Get("dp").has_value() && result.Get("world").has_value()) {
    return Wrong(text, "has both dp and world; dp follows from world");
  }
  if (result.world_size() > vps::kMaxWorldSize) {
    return Wrong(text,
                 absl::StrCat("has more than ", vps::kMaxWorldSize, " ranks"));
  }
  return result;
}

std::vector<absl::string_view> LayoutText::names() const {
  std::vector<absl::string_view> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

std::optional<int64_t> LayoutText::Get(absl::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry.number;
  }
  return std::nullopt;
}

LayoutText LayoutText::With(absl::string_view name, int64_t number) const {
  LayoutText result = *this;
  for (Entry& entry : result.entries_) {
    if (entry.name != name) continue;
    entry.number = number;
    return result;
  }
  result.entries_.push_back({std::string(name), number});
  return result;
}

int64_t LayoutText::world_size() const {
  if (const auto world = Get("world")) return *world;
  int64_t size = 1;
  for (absl::string_view axis : {"tp", "pp", "dp", "cp"}) {
    size *= Get(axis).value_or(1);
    // The next factor would fit, but not all of them.
    if (size > vps::kMaxWorldSize) break;
  }
  return size;
}

Json LayoutText::ToFile(const Json& model, const Json& states) const {
  Json parallelism = Json::object();
  for (const char* axis : {"tp", "pp", "cp", "ep", "etp", "vpp"}) {
    if (const auto size = Get(axis)) parallelism[axis] = *size;
  }
  Json megatron = Json::object();
  if (Get("zero") == 0) megatron["distributed_optimizer"] = false;
  for (const auto& [name, field] :
       {std::pair("first", "first_stage_layers"),
        std::pair("last", "last_stage_layers"),
        std::pair("instances", "optimizer_instances")}) {
    if (const auto number = Get(name)) megatron[field] = *number;
  }
  return {{"model", model},
          {"framework", "megatron"},
          {"world", world_size()},
          {"parallelism", std::move(parallelism)},
          {"megatron", std::move(megatron)},
          {"states", states}};
}

std::string LayoutText::ToString() const {
  return absl::StrJoin(entries_, ",", [](std::string* out, const Entry& entry) {
    absl::StrAppend(out, entry.name, entry.number);
  });
}

}  // namespace dynatrain::api
