#include "vps/layout/sharding.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::vps {
namespace {

absl::Status ValidateSplit(const Split& split, int dims) {
  if (std::find(kAxisNames.begin(), kAxisNames.end(), split.axis) ==
      kAxisNames.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "axis \"", absl::CHexEscape(split.axis.substr(0, 64)),
        "\" is unknown; the axes are ", absl::StrJoin(kAxisNames, ", ")));
  }
  if (split.dim < 0 || split.dim >= dims) {
    return absl::InvalidArgumentError(
        absl::StrCat("dim ", split.dim, " of axis ", split.axis,
                     dims == 0 ? ": a scalar has no dim to split"
                               : absl::StrCat(" is not in 0..", dims - 1)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateSharding(absl::Span<const Split> sharding, int dims) {
  for (size_t i = 0; i < sharding.size(); ++i) {
    absl::Status status = ValidateSplit(sharding[i], dims);
    for (size_t j = 0; status.ok() && j < i; ++j) {
      if (sharding[j].axis == sharding[i].axis) {
        status = absl::InvalidArgumentError(absl::StrCat(
            "axis ", sharding[i].axis, " splits already at splits[", j, "]"));
      }
    }
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("splits[", i, "]: ", status.message()));
    }
  }
  return absl::OkStatus();
}

std::string DebugString(absl::Span<const Split> sharding) {
  if (sharding.empty()) return "replicated";
  return absl::StrJoin(sharding, " ", [](std::string* out, const Split& split) {
    absl::StrAppend(out, split.axis, ":", split.dim);
  });
}

}  // namespace dynatrain::vps
