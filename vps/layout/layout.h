// Layout: who holds what. It maps a rank to the regions that it holds, and a
// box of a tensor to the ranks that hold its parts, both in closed form: from
// the chain of placement.h, never from a list per rank, and elements are never
// enumerated. What is known from a dump only is listed, and indexed then
// (listed_copy.h). LayoutBuilder makes it.
//
//   layout.ForEachRegion(rank, [&](const OwnedRegion& region) { ... });
//   layout.ForEachPiece(tensor, copy, box, [&](const Piece& piece) { ... });
//
// Laws (layout_property_test.cc, against an oracle that enumerates elements):
// the regions of all ranks of one copy hold each element, and each as often as
// there are holders; pieces are the exact inverse of regions; the order of both
// is fixed.
#ifndef VPS_LAYOUT_LAYOUT_H_
#define VPS_LAYOUT_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "vps/geometry/box.h"
#include "vps/layout/holder_set.h"
#include "vps/layout/listed_copy.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

struct LayoutBody;

using LocalShape = absl::InlinedVector<int64_t, kMaxDims>;

// A box of a tensor that a rank holds, never empty. The element at index g of
// the whole tensor lies at
//   offset + sum over d of (g[d] - global.origin(d)) * strides[d]
// elements from the beginning of the rank's own memory of that copy: its local
// tensor, row-major, or, of a flattened placement, its shard of it.
struct OwnedRegion {
  int tensor = 0;
  int copy = 0;
  Box global;
  int64_t offset = 0;
  Strides strides = {};

  friend bool operator==(const OwnedRegion&, const OwnedRegion&) = default;
};

// A part of a box that some ranks hold together.
struct Piece {
  Box box;     // never empty
  Box region;  // the OwnedRegion::global of each holder in which `box` lies
  HolderSet holders;
};

class Layout {
 public:
  int world_size() const;
  absl::Span<const Mesh> meshes() const;
  absl::Span<const Placement> placements() const;
  absl::Span<const std::string> buffers() const;

  int num_tensors() const;
  // REQUIRES, here and below: valid indices.
  const TensorSpec& tensor(int tensor) const;
  // O(1).
  std::optional<int> Find(absl::string_view name,
                          absl::string_view state) const;
  // Of all tensors, each counted once.
  int64_t num_bytes() const;

  // At least 1. Each copy is a whole tensor; copy 0 is the authoritative one.
  int num_copies(int tensor) const;
  const Held& held(int tensor, int copy) const;
  const Placement& placement(int tensor, int copy) const {
    return placements()[held(tensor, copy).placement];
  }
  // Of a copy whose placement is listed: what its parts are.
  const ListedCopy& listed(int tensor, int copy) const;

  // The rank that has the first part of every cut and shard: at 0 on all axes
  // but those that locate. If it is listed, the first rank of the first part.
  int FirstRank(int tensor, int copy) const;
  // True if `rank` is where this copy is, though its part may be empty. O(axes)
  bool IsAt(int rank, int tensor, int copy) const;
  // The shape of what the rank has in its own memory of a copy: one dim, the
  // length, if the placement is flattened. nullopt unless IsAt.
  std::optional<LocalShape> LocalShapeOf(int rank, int tensor, int copy) const;
  // The buffer that this memory is in, Storage::kOwnTensor if in none, and
  // where its first element is in it, in elements. REQUIRES: IsAt.
  int BufferOf(int rank, int tensor, int copy) const;
  int64_t BufferOffset(int rank, int tensor, int copy) const;
  // Where in the run the rank's local tensor lies, if the placement is
  // flattened. REQUIRES: IsAt.
  FlatPosition FlatPositionOf(int rank, int tensor, int copy) const;

  // All that `rank` holds, in the order of tensors, then copies, then
  // positions in local memory. O(what it holds).
  void ForEachRegion(int rank,
                     absl::FunctionRef<void(const OwnedRegion&)> visit) const;
  // Those of one tensor: O(copies + its regions).
  void ForEachRegionOf(int rank, int tensor,
                       absl::FunctionRef<void(const OwnedRegion&)> visit) const;

  // The tensors of which `rank` has elements, ascending, each once, and perhaps
  // some of which it has none. O(tensors at its place), a few ns each: for
  // those who ask more about each of them.
  void ForEachTensorOf(int rank,
                       absl::FunctionRef<void(int tensor)> visit) const;

  // The parts of `box` that are held together by ranks of one copy: disjoint,
  // their union is `box`. In ascending order of the holders' PieceIndex.
  // O(axes) per piece; if it is listed, O(log + regions that begin near the
  // box). REQUIRES: `box` lies within the tensor.
  void ForEachPiece(int tensor, int copy, const Box& box,
                    absl::FunctionRef<void(const Piece&)> visit) const;

  // The ranks that hold the element at `index`. O(axes).
  // REQUIRES: the index lies within the tensor.
  HolderSet Owners(int tensor, int copy, absl::Span<const int64_t> index) const;

  // The ranks that hold the same of a copy as `rank`, with it. REQUIRES: IsAt.
  HolderSet HoldersLike(int rank, int tensor, int copy) const;
  // Which of the parts of the copy the rank holds: the number of its numbers in
  // the cuts and shards, the first cut slowest, or of the part that is listed.
  // O(axes). REQUIRES: IsAt.
  int64_t PieceIndex(int rank, int tensor, int copy) const;

  // Equal exactly (up to chance) if meshes, buffers, tensors and copies are.
  const Fingerprint& digest() const;
  // Equal exactly (up to chance) if the tensors and their order are.
  const Fingerprint& tensors_digest() const;

 private:
  friend class LayoutBuilder;
  friend class RankView;
  explicit Layout(std::shared_ptr<const LayoutBody> body)
      : body_(std::move(body)) {}

  std::shared_ptr<const LayoutBody> body_;  // never null; shared by copies
};

std::ostream& operator<<(std::ostream& out, const OwnedRegion& region);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LAYOUT_H_
