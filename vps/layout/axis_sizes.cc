#include "vps/layout/axis_sizes.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain::vps {
namespace {

// Longest text that Parse looks at: messages quote it whole.
constexpr size_t kMaxTextBytes = 128;

std::optional<size_t> IndexOfAxis(absl::string_view name) {
  const auto* it = std::find(kAxisNames.begin(), kAxisNames.end(), name);
  if (it == kAxisNames.end()) return std::nullopt;
  return it - kAxisNames.begin();
}

struct Entry {
  size_t axis;
  int64_t size;
};

absl::StatusOr<Entry> ParseEntry(absl::string_view entry) {
  const auto digit = std::find_if(entry.begin(), entry.end(), [](char c) {
    return !absl::ascii_islower(static_cast<unsigned char>(c));
  });
  const absl::string_view name = entry.substr(0, digit - entry.begin());
  const absl::string_view number = entry.substr(name.size());
  const std::optional<size_t> axis = IndexOfAxis(name);
  if (!axis.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", absl::CHexEscape(entry), "\" names no axis; the axes are ",
        absl::StrJoin(kAxisNames, ", "),
        ", each with its size, as in \"dp2\""));
  }
  int64_t size = 0;
  // The round trip refuses "02", "+2" and " 2", which SimpleAtoi reads.
  if (!absl::SimpleAtoi(number, &size) || absl::StrCat(size) != number) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(entry), "\": the size of ", name,
                     " is no plain number; write e.g. \"", name, "2\""));
  }
  return Entry{*axis, size};
}

}  // namespace

absl::StatusOr<AxisSizes> AxisSizes::Create(const Values& values) {
  const std::array<int64_t, kAxisNames.size()> sizes = {
      values.dp, values.tp, values.pp, values.ep, values.rep};
  AxisSizes result;
  int64_t world_size = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] < 1 || sizes[axis] > kMaxWorldSize) {
      return absl::InvalidArgumentError(
          absl::StrCat(kAxisNames[axis], " is ", sizes[axis],
                       "; a size lies in 1..", kMaxWorldSize));
    }
    world_size *= sizes[axis];
    if (world_size > kMaxWorldSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("the world has more than ", kMaxWorldSize,
                       " ranks: the product of all axis sizes"));
    }
    result.sizes_[axis] = static_cast<int>(sizes[axis]);
  }
  return result;
}

absl::StatusOr<AxisSizes> AxisSizes::Parse(absl::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout text has ", text.size(), " bytes; at most ",
                     kMaxTextBytes, " are read"));
  }
  const std::string context =
      absl::StrCat("layout \"", absl::CHexEscape(text), "\"");
  Values values;
  const std::array<int64_t*, kAxisNames.size()> sizes = {
      &values.dp, &values.tp, &values.pp, &values.ep, &values.rep};
  std::array<bool, kAxisNames.size()> seen = {};
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(const Entry entry, ParseEntry(part), context);
    if (seen[entry.axis]) {
      return absl::InvalidArgumentError(absl::StrCat(
          context, ": ", kAxisNames[entry.axis], " is given twice"));
    }
    seen[entry.axis] = true;
    *sizes[entry.axis] = entry.size;
  }
  ASSIGN_OR_RETURN(AxisSizes result, Create(values), context);
  return result;
}

std::optional<int> AxisSizes::size(absl::string_view axis) const {
  const std::optional<size_t> index = IndexOfAxis(axis);
  if (!index.has_value()) return std::nullopt;
  return sizes_[*index];
}

int AxisSizes::world_size() const {
  int product = 1;
  for (int size : sizes_) product *= size;
  return product;
}

std::string AxisSizes::ToString() const {
  std::string text = absl::StrCat("dp", dp(), ",tp", tp(), ",pp", pp());
  if (ep() > 1) absl::StrAppend(&text, ",ep", ep());
  if (rep() > 1) absl::StrAppend(&text, ",rep", rep());
  return text;
}

}  // namespace dynatrain::vps
