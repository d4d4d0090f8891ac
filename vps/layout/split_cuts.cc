#include "vps/layout/split_cuts.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::vps {

absl::StatusOr<std::vector<Cut>> CutsOfSplits(const Mesh& mesh, int dims,
                                              absl::Span<const Split> splits) {
  std::vector<Cut> cuts;
  unsigned used = 0;  // a bit per axis
  for (size_t i = 0; i < splits.size(); ++i) {
    const std::string field = absl::StrCat("splits[", i, "]");
    const std::optional<int> axis = mesh.AxisIndex(splits[i].axis);
    if (!axis.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, ": axis \"", absl::CHexEscape(splits[i].axis.substr(0, 64)),
          "\" is none of mesh ", mesh.DebugString()));
    }
    if ((used >> *axis & 1) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ": axis ", splits[i].axis, " splits already"));
    }
    used |= 1u << *axis;
    if (splits[i].dim < 0 || splits[i].dim >= dims) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ": dim ", splits[i].dim,
                       dims == 0 ? ": a scalar has no dim to split"
                                 : absl::StrCat(" is not in 0..", dims - 1)));
    }
    if (mesh.size(*axis) == 1) continue;  // cuts nothing
    cuts.push_back({.group = {.axes = {*axis}}, .dim = splits[i].dim});
  }
  return cuts;
}

}  // namespace dynatrain::vps
