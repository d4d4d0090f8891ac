// The layout of a job whose tensors are cut by named axes of one mesh: PyTorch
// with DTensor. It needs no more than a manifest, which is valid for any sizes
// of the axes, so layouts that nobody runs yet are made the same way.
#ifndef VPS_LAYOUT_NAMED_LAYOUT_H_
#define VPS_LAYOUT_NAMED_LAYOUT_H_

#include "absl/status/statusor.h"
#include "vps/layout/layout.h"
#include "vps/layout/manifest.h"
#include "vps/layout/mesh.h"

namespace dynatrain::vps {

// Tensors are in the order of the manifest, each has one copy, and all states
// lie in tensors of their own. Returns kInvalidArgument naming the tensor if a
// split names an axis that the mesh does not have.
absl::StatusOr<Layout> MakeLayout(const Mesh& mesh, const Manifest& manifest);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_NAMED_LAYOUT_H_
