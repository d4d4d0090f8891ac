// Placement: how a tensor is spread over a mesh, as a chain of at most four
// steps (docs/design/0002-space.md), each a value and each inverted in closed
// form:
//
//   1 where    `located_by`: only ranks at given coordinates of these axes have
//              the tensor at all (a pipeline stage, an expert's rank)
//   2 cut      each Cut leaves a rank a part of one dim
//   3 flatten  what is left, row-major, lies in a run of elements that is cut
//              into equal shards (ZeRO, FSDP1)
//   4 store    where in a buffer of the rank that is (Storage)
//
// A placement that is `listed` has none of these steps. It says for each part
// of a tensor which ranks hold it, and is for what is known from a dump only;
// what the parts are, a ListedCopy says (listed_copy.h).
//
// Where the local tensor lies (steps 3 and 4) is mostly the same on all ranks.
// Behind local tensors of different sizes it isn't: then `lanes` names the axes
// on which it depends, and there is a position for each of their coordinates.
//
// An axis that no step names replicates. A placement is the part of the chain
// that many tensors share; Held adds what is a tensor's own. Examples, on a
// mesh with the axes pp, dp, tp (0, 1, 2):
//
//   a Megatron weight, cut by rows      {.located_by = {0}, .cuts = {{{{2}}}}}
//   its gated fc1, [gate; up]           .cuts = {{.group = {{2}},
//                                                 .num_blocks = 2}}
//   its optimizer state with ZeRO-1     .flat = Flat{{{1}}} besides
//   FSDP2 over TP on dim 0              .cuts = {{{{2}}}, {{{1}}}}
//   FSDP1 over TP, where TP cuts 5      .cuts = {{{{2}}}}, .flat = Flat{{{1}}},
//   rows into 3 and 2                   .lanes = {2}
#ifndef VPS_LAYOUT_PLACEMENT_H_
#define VPS_LAYOUT_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "vps/layout/mesh.h"

namespace dynatrain::vps {

// Several axes of one mesh read as one number, the first axis slowest (a number
// in mixed radix), taken modulo `pieces`: ranks that differ above that hold the
// same. {{dp, cp}, pieces = 4} cuts a list of dp x cp ranks into runs of
// four (Megatron's optimizer instances).
struct AxisGroup {
  std::vector<int> axes;  // indices of mesh axes
  int pieces = 0;  // 0: as many as the axes have ranks; else divides that

  // All its axes are among `others`: those say its ranks' numbers.
  bool IsWithin(absl::Span<const int> others) const;

  friend bool operator==(const AxisGroup&, const AxisGroup&) = default;
};

// Cuts what the cuts before have left of `dim`: the rank's index space of
// that dim, 0..extent-1, whatever it stands for in the whole tensor. It is the
// concatenation of blocks; each block is cut into as many pieces as the group
// has by torch's chunk rule (ChunkOf); the rank takes the piece of its number
// from each, laid end to end.
//
// Blocks are the chunks of `num_blocks` (by the same rule), or, if given,
// `block_extents`, which sum up to the whole extent of the dim; such a cut is
// the first of its dim. So torch's _StridedShard(dim, split_factor) is
// {group, dim, .num_blocks = split_factor}, uneven pieces included.
struct Cut {
  AxisGroup group;
  int dim = 0;
  int num_blocks = 1;
  std::vector<int64_t> block_extents;

  friend bool operator==(const Cut&, const Cut&) = default;
};

// What the cuts left, flattened, lies at FlatPosition::position in a run of
// elements whose piece number i is [i * shard, (i + 1) * shard): a rank holds
// what lies in the piece of its number in the group.
struct Flat {
  AxisGroup group;

  friend bool operator==(const Flat&, const Flat&) = default;
};

struct Placement {
  int mesh = 0;                 // index of the layout's mesh
  std::vector<int> located_by;  // indices of its axes
  std::vector<Cut> cuts;        // applied in this order
  std::optional<Flat> flat;
  // Indices of the axes by whose coordinates, read as one number (the first
  // slowest), Held::lanes says where the local tensor lies. With `flat`, all
  // axes of some of the cuts, so that ranks that hold the same of the local
  // tensor hold the same piece of the run.
  std::vector<int> lanes;
  // Instead of these steps: the ranks that hold part number i, ascending.
  std::vector<std::vector<int>> listed;

  // kInvalidArgument naming the field unless the axes are those of `mesh`, no
  // axis is used twice, groups are not empty and their pieces divide their
  // ranks, dims and blocks are in range, and lanes are as said above; or, if it
  // is listed, it has no other step, ranks are those of `mesh`, and none holds
  // two parts.
  absl::Status Validate(const Mesh& mesh) const;
  // "at pp; tp cuts dim 0 in 2 blocks; dp*cp%4 cuts flat"; "everywhere, whole".
  std::string DebugString(const Mesh& mesh) const;

  friend bool operator==(const Placement&, const Placement&) = default;
};

// Of a placement with `flat`, in elements.
struct FlatPosition {
  int64_t position = 0;  // of the local tensor's first element in the run
  int64_t shard = 0;     // a piece of the run
  friend bool operator==(const FlatPosition&, const FlatPosition&) = default;
};

// Where the elements lie in the memory of a rank that has them.
struct Storage {
  static constexpr int kOwnTensor = -1;

  // Index of the layout's buffer, or kOwnTensor: memory of its own.
  int buffer = kOwnTensor;
  // Elements (of the tensor's dtype) from the buffer's begin: of the local
  // tensor, or, with `flat`, of the rank's piece of the run.
  int64_t offset = 0;
  friend bool operator==(const Storage&, const Storage&) = default;
};

// Where the local tensor lies.
struct Lane {
  FlatPosition flat;  // only if the placement has `flat`
  Storage storage;
  friend bool operator==(const Lane&, const Lane&) = default;
};

// One copy of a tensor: a placement, and what of the chain is its own.
struct Held {
  int placement = 0;  // index of the layout's placement
  // Coordinates on the placement's `located_by`, in that order.
  absl::InlinedVector<int, 2> at;
  FlatPosition flat;  // only if the placement has `flat`, and no lanes
  Storage storage;    // not if it has lanes or is listed: those have their own
  // Only if the placement is listed: the index of the layout's ListedCopy.
  int listed = -1;
  // One for each number of a rank on Placement::lanes; none if there are none.
  std::vector<Lane> lanes;

  friend bool operator==(const Held&, const Held&) = default;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_PLACEMENT_H_
