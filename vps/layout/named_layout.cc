#include "vps/layout/named_layout.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/layout_builder.h"

namespace dynatrain::vps {
namespace {

absl::StatusOr<Placement> PlacementOf(const Mesh& mesh,
                                      const ManifestTensor& tensor) {
  Placement placement;
  for (const Split& split : tensor.sharding) {
    const std::optional<int> axis = mesh.AxisIndex(split.axis);
    if (!axis.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", tensor.spec.Id(), " is split by axis \"", split.axis,
          "\", which mesh ", mesh.DebugString(), " does not have"));
    }
    // Tensors that are cut alike share a placement, whatever their splits by
    // axes of one rank.
    if (mesh.size(*axis) == 1) continue;
    placement.cuts.push_back({.group = {{*axis}}, .dim = split.dim});
  }
  return placement;
}

}  // namespace

absl::StatusOr<Layout> MakeLayout(const Mesh& mesh, const Manifest& manifest) {
  LayoutBuilder builder;
  builder.AddMesh(mesh);
  for (const ManifestTensor& tensor : manifest.tensors()) {
    ASSIGN_OR_RETURN(Placement placement, PlacementOf(mesh, tensor));
    builder.AddCopy(builder.AddTensor(tensor.spec),
                    {.placement = builder.AddPlacement(std::move(placement))});
  }
  return std::move(builder).Build();
}

}  // namespace dynatrain::vps
