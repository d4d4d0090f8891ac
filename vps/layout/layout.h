// Layout: who holds what. It maps a rank to the regions that it holds, and a
// box of a tensor to the ranks that hold its parts, both in closed form: no
// list per rank or per tensor is kept, and elements are never enumerated.
//
//   Layout layout = *Layout::Create(Mesh::ForTorch(sizes), manifest);
//   layout.ForEachRegion(rank, [&](const OwnedRegion& region) { ... });
//   layout.ForEachPiece(tensor, box, [&](const Box& piece,
//                                        const HolderSet& holders) { ... });
#ifndef VPS_LAYOUT_LAYOUT_H_
#define VPS_LAYOUT_LAYOUT_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/layout/holder_set.h"
#include "vps/layout/manifest.h"
#include "vps/layout/mesh.h"

namespace dynatrain::vps {

// A box of a tensor that a rank holds, and where it lies in the rank's memory.
struct OwnedRegion {
  int tensor;                             // index into the manifest
  Box global;                             // in the whole tensor
  Box local;                              // in the rank's local tensor
  absl::Span<const int64_t> local_shape;  // of the local tensor
};

class Layout {
 public:
  // Returns kInvalidArgument naming the tensor if a split names an axis that
  // the mesh does not have.
  static absl::StatusOr<Layout> Create(Mesh mesh, Manifest manifest);

  const Mesh& mesh() const { return mesh_; }
  const Manifest& manifest() const { return manifest_; }
  int world_size() const { return mesh_.world_size(); }
  int num_tensors() const { return manifest_.size(); }

  // What `rank` holds of `tensor`; may be empty. O(splits).
  // REQUIRES: valid indices.
  Box LocalBox(int rank, int tensor) const;

  // All non-empty regions of `rank`, in the order of the manifest. The span of
  // a region is valid only during the call.
  void ForEachRegion(int rank,
                     absl::FunctionRef<void(const OwnedRegion&)> visit) const;

  // The parts of `box` that are held together, disjoint and in ascending order
  // of their holders' coordinates, each with its holders: their union is `box`.
  // O(axes) per piece. REQUIRES: `box` lies within the tensor.
  void ForEachPiece(
      int tensor, const Box& box,
      absl::FunctionRef<void(const Box& piece, const HolderSet& holders)> visit)
      const;

  // The ranks that hold the same box of `tensor` as `rank`, with it.
  HolderSet HoldersLike(int rank, int tensor) const {
    return HolderSet(mesh_, rank, rule(tensor).free_axes);
  }

  // Which of the pieces of `tensor` the rank holds: the number of its
  // coordinates on the axes that split, the slowest axis first. O(axes).
  int PieceIndex(int rank, int tensor) const {
    return *HolderSet(mesh_, rank, ~rule(tensor).free_axes).IndexOf(rank);
  }

  // Tensors with equal rules are cut and replicated over the same axes: an
  // index in 0..num_rules()-1. Equal on all ranks.
  int rule_index(int tensor) const { return rule_of_tensor_[tensor]; }
  int num_rules() const { return static_cast<int>(rules_.size()); }

 private:
  struct MeshSplit {
    int axis;
    int dim;
    friend auto operator<=>(const MeshSplit&, const MeshSplit&) = default;
  };
  // A sharding in terms of the mesh, without splits by axes of size 1.
  struct Rule {
    std::vector<MeshSplit> splits;
    unsigned free_axes = 0;  // a bit per axis that does not split
  };

  Layout(Mesh mesh, Manifest manifest);

  const Rule& rule(int tensor) const { return rules_[rule_of_tensor_[tensor]]; }

  Mesh mesh_;
  Manifest manifest_;
  std::vector<Rule> rules_;
  std::vector<int> rule_of_tensor_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LAYOUT_H_
