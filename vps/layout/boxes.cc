#include "vps/layout/boxes.h"

#include "absl/strings/str_cat.h"

namespace dynatrain::vps {
namespace {

bool CutsInBlocks(const Placement& placement) {
  for (const Cut& cut : placement.cuts) {
    if (cut.num_blocks > 1 || !cut.block_extents.empty()) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckMadeOfBoxes(const Layout& layout) {
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    const Placement& placement = layout.placement(tensor, 0);
    const char* why = layout.num_copies(tensor) > 1   ? "has several copies"
                      : !placement.located_by.empty() ? "is not at every rank"
                      : placement.flat.has_value()    ? "is flattened"
                      : CutsInBlocks(placement)       ? "is cut in blocks"
                                                      : nullptr;
    if (why == nullptr) continue;
    return absl::UnimplementedError(absl::StrCat(
        "tensor ", layout.tensor(tensor).Id(), " ", why, ": ",
        placement.DebugString(layout.meshes()[placement.mesh]),
        "; only layouts with one box per rank and tensor can be used here"));
  }
  return absl::OkStatus();
}

Box LocalBox(const Layout& layout, int rank, int tensor) {
  // Nothing is a box too: that of an empty local tensor.
  Box box = layout.tensor(tensor).whole();
  bool holds = false;
  layout.ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
    box = region.global;
    holds = true;
  });
  if (holds) return box;
  const LocalShape shape = *layout.LocalShapeOf(rank, tensor, 0);
  for (int dim = 0; dim < box.dims(); ++dim) {
    box = box.With(dim, {0, shape[dim]});
  }
  return box;
}

}  // namespace dynatrain::vps
