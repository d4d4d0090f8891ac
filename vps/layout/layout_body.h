// What a Layout keeps: the values it was built of, and indexes over them. For
// the files of the library `layout` only.
#ifndef VPS_LAYOUT_LAYOUT_BODY_H_
#define VPS_LAYOUT_LAYOUT_BODY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "vps/geometry/box.h"
#include "vps/geometry/interval.h"
#include "vps/layout/holder_set.h"
#include "vps/layout/layout.h"
#include "vps/layout/listed_index.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"
#include "vps/layout/rank_group.h"
#include "vps/layout/slices.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

// A placement in terms of ranks. Groups are indices into LayoutBody::groups.
struct PlacementBody {
  struct CutBody {
    int group = 0;
    int dim = 0;
    CutRule rule;          // a view of the placement's block_extents
    bool of_lane = false;  // a lane says the rank's number in the group
  };

  int shelf = 0;
  std::vector<CutBody> cuts;  // without those into one piece
  int flat_group = -1;        // -1: not flattened
  int lane_group = -1;        // -1: one lane for all ranks
  RankGroup located;
  RankGroup free;  // the axes whose ranks hold the same
  // If it is listed: then there are no cuts, and the groups mean nothing.
  std::optional<ListedRanks> listed;
};

// The copies that are located by the same axes of one mesh, by the position of
// their coordinates: so a rank finds what is at its place without looking at
// the rest. Listed ones stand as if all axes located them, at each rank that
// has them.
struct Shelf {
  struct Entry {
    int tensor;
    int copy;
    // Of a flattened placement without lanes: where in the run the copy lies at
    // most, for any rank at this position. Most shards of a run lie elsewhere,
    // and this says so without a look at the tensor.
    int flat_group = -1;
    Interval most_of_run = {};
    int64_t shard = 0;

    bool MayBeIn(int64_t number) const {
      return number * shard < most_of_run.end &&
             (number + 1) * shard > most_of_run.begin;
    }
    friend bool operator<(const Entry& a, const Entry& b) {
      return std::pair(a.tensor, a.copy) < std::pair(b.tensor, b.copy);
    }
  };

  RankGroup located;
  std::vector<Entry> entries;  // by position, then ascending
  absl::flat_hash_map<int, std::pair<int, int>> range_of_position;

  absl::Span<const Entry> At(int rank) const {
    const auto it = range_of_position.find(located.PositionOf(rank));
    if (it == range_of_position.end()) return {};
    return absl::MakeConstSpan(entries).subspan(
        it->second.first, it->second.second - it->second.first);
  }
};

struct LayoutBody {
  std::vector<Mesh> meshes;
  std::vector<std::string> buffers;
  std::vector<Placement> placements;
  std::vector<PlacementBody> placement_bodies;
  std::vector<RankGroup> groups;  // of all cuts and shards, each once
  std::vector<Shelf> shelves;
  std::vector<ListedCopy> listed;
  std::vector<ListedIndex> listed_indexes;  // of each
  std::vector<TensorSpec> tensors;
  // TensorSpec::whole() of all tensors, each once, and which one a tensor has:
  // tens of thousands of tensors have a few shapes, and a walk over them finds
  // those in the cache.
  std::vector<Box> wholes;
  std::vector<int> whole_of_tensor;
  std::vector<Held> helds;      // by tensor, then copy
  std::vector<int> first_held;  // of each tensor, and the end
  // Views of the tensors' own strings.
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>, int>
      index_of_name;
  int64_t num_bytes = 0;
  Fingerprint digest;
  Fingerprint tensors_digest;

  const Held& held(int tensor, int copy) const {
    return helds[first_held[tensor] + copy];
  }
  const Box& whole(int tensor) const { return wholes[whole_of_tensor[tensor]]; }
  const PlacementBody& body_of(const Held& held) const {
    return placement_bodies[held.placement];
  }
  // Where the local tensor lies on ranks whose number in a group is
  // `number_of(group)`. REQUIRES: it isn't listed.
  template <typename NumberOf>
  Lane LaneOf(const Held& held, const NumberOf& number_of) const {
    const int group = body_of(held).lane_group;
    if (group < 0) return {held.flat, held.storage};
    return held.lanes[number_of(group)];
  }
  Lane LaneAt(const Held& held, int rank) const {
    return LaneOf(held,
                  [&](int group) { return groups[group].NumberOf(rank); });
  }
  // nullptr unless the copy is listed and the rank has a part of it.
  const ListedMemory* ListedAt(const Held& held, int rank) const {
    const std::optional<ListedRanks>& ranks = body_of(held).listed;
    if (!ranks.has_value()) return nullptr;
    const int part = ranks->PartOf(rank);
    return part < 0 ? nullptr : &listed[held.listed][part];
  }
  // The rank at `held.at`, at 0 on all other axes; of a listed copy, the first.
  int RankAt(const Held& held) const {
    const PlacementBody& placement = body_of(held);
    if (placement.listed.has_value()) {
      return placements[held.placement].listed[0][0];
    }
    return placement.located.RankOf(PositionAt(held));
  }
  // As RankGroup::PositionOf of the ranks at `held.at`.
  int PositionAt(const Held& held) const;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LAYOUT_BODY_H_
