#include "vps/layout/named_layout.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/split_cuts.h"

namespace dynatrain::vps {
absl::StatusOr<Layout> MakeLayout(const Mesh& mesh, const Manifest& manifest) {
  LayoutBuilder builder;
  builder.AddMesh(mesh);
  for (const ManifestTensor& tensor : manifest.tensors()) {
    Placement placement;
    ASSIGN_OR_RETURN(
        placement.cuts,
        CutsOfSplits(mesh, tensor.spec.whole().dims(), tensor.sharding),
        absl::StrCat("tensor ", tensor.spec.Id()));
    builder.AddCopy(builder.AddTensor(tensor.spec),
                    {.placement = builder.AddPlacement(std::move(placement))});
  }
  return std::move(builder).Build();
}

}  // namespace dynatrain::vps
