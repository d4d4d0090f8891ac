// LayoutBuilder: makes a Layout of the values in placement.h. The mappings of
// frameworks are functions that only build.
//
//   LayoutBuilder builder;
//   const int mesh = builder.AddMesh(*Mesh::Create({{"dp", 2}, {"tp", 2}}));
//   const int rows = builder.AddPlacement(
//       {.mesh = mesh, .cuts = {{.group = {{1}}, .dim = 0}}});
//   const int weight = builder.AddTensor(*TensorSpec::Create(...));
//   builder.AddCopy(weight, {.placement = rows});
//   ASSIGN_OR_RETURN(Layout layout, std::move(builder).Build());
#ifndef VPS_LAYOUT_LAYOUT_BUILDER_H_
#define VPS_LAYOUT_LAYOUT_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vps/layout/layout.h"
#include "vps/layout/listed_copy.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

class LayoutBuilder {
 public:
  // Each returns the index of what was added, from 0.
  int AddMesh(Mesh mesh);
  int AddBuffer(std::string name);
  // The index of an equal placement if there is one and it is not listed: those
  // are long, and who makes them knows which are equal.
  int AddPlacement(Placement placement);
  // Puts the regions of each part in the order of local memory.
  int AddListed(ListedCopy copy);
  int AddTensor(TensorSpec spec);
  // The first copy of a tensor is its authoritative one.
  void AddCopy(int tensor, Held held);

  // Returns kInvalidArgument, naming the tensor, copy or placement and the
  // field, if there is no mesh or the meshes have different sizes; a placement
  // is invalid (Placement::Validate); an index is out of range; two tensors
  // have the same name and state; a tensor has no copy; coordinates in `at` are
  // not as many as located_by or out of range; a cut's dim isn't one of the
  // tensor's, or block_extents don't sum up to its extent; `flat` is given
  // without need or missing; a tensor doesn't fit into the run of its shards;
  // a storage is no place in a buffer; `lanes` are given without need, not as
  // many as the coordinates of their axes, beside `flat` or `storage`, or one
  // of them is wrong as those can be; what is listed is given without need or
  // missing, has other parts than the placement or is invalid
  // (ValidateListedCopy); or sizes do not fit 63 bits.
  absl::StatusOr<Layout> Build() &&;

 private:
  struct Copy {
    int tensor;
    Held held;
  };

  absl::Status MoveCopies(LayoutBody& body);

  std::vector<Mesh> meshes_;
  std::vector<std::string> buffers_;
  std::vector<Placement> placements_;
  std::vector<ListedCopy> listed_;
  std::vector<TensorSpec> tensors_;
  std::vector<Copy> copies_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LAYOUT_BUILDER_H_
