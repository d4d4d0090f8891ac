#include "tools/cli/tensor_place.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace dynatrain::cli {
namespace {

std::string Joined(const std::vector<std::string>& parts, size_t begin,
                   size_t end) {
  return absl::StrJoin(parts.begin() + begin, parts.begin() + end, ".");
}

// -1 if `part` is no plain number.
int NumberOf(const std::string& part) {
  int number = -1;
  const bool digits = part.find_first_not_of("0123456789") == std::string::npos;
  return digits && absl::SimpleAtoi(part, &number) ? number : -1;
}

}  // namespace

TensorPlace PlaceOf(absl::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '.');
  TensorPlace place;
  size_t begin = 0;  // of what comes after the layer
  size_t experts = parts.size();
  for (size_t i = 1; i < parts.size(); ++i) {
    const int number = NumberOf(parts[i]);
    if (number < 0) continue;
    if (parts[i - 1] == "experts" || parts[i - 1] == "local_experts") {
      place.expert = number;
      experts = i;
      break;
    }
    if (place.layer >= 0) continue;
    place.layer = number;
    begin = i + 1;
    place.block = Joined(parts, 0, begin);
  }
  const size_t end = experts < parts.size() ? experts : begin + 1;
  if (end >= parts.size()) {
    place.rest = Joined(parts, begin, parts.size());
    return place;
  }
  place.module = Joined(parts, begin, end);
  place.rest =
      Joined(parts, experts < parts.size() ? experts + 1 : end, parts.size());
  return place;
}

std::string TensorPlace::InLayer() const {
  std::string text = module;
  if (expert >= 0) absl::StrAppend(&text, ".", expert);
  if (!text.empty() && !rest.empty()) text += ".";
  return text + rest;
}

}  // namespace dynatrain::cli
