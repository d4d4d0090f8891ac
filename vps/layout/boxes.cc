#include "vps/layout/boxes.h"

namespace dynatrain::vps {

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
