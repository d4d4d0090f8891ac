// JobMeshes: the meshes of a Megatron job as a Layout has them, and which of
// their axes place, cut and shard a tensor of each kind.
#ifndef VPS_LAYOUT_MEGATRON_JOB_MESHES_H_
#define VPS_LAYOUT_MEGATRON_JOB_MESHES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/megatron/ranks.h"
#include "vps/layout/megatron/version.h"
#include "vps/layout/placement.h"

namespace dynatrain::vps::megatron {

// Where tensors of one kind live. All indices are those of the mesh.
struct MeshRole {
  int mesh = 0;  // of the layout
  // The axes that locate: pp; of experts also ep, if they have a mesh of their
  // own.
  std::vector<int> located_by;
  int cut_axis = 0;  // tp or etp
  int cut_pieces = 1;
  AxisGroup shards;  // of the distributed optimizer
};

struct JobMeshes {
  MeshRole dense;
  MeshRole experts;
  // Experts have buffers and an optimizer of their own.
  bool experts_apart = false;

  // Adds the meshes to `builder`. Experts that are not apart are sharded like
  // dense parameters, over the ranks of one tp coordinate, but cut over etp;
  // that is so for ep 1, and needs a mesh in which etp is a part of tp. Returns
  // kInvalidArgument, if `has_experts`, where there is no such: etp does not
  // divide tp, or its ranks are elsewhere (an order with dp before tp, cp 2).
  static absl::StatusOr<JobMeshes> Create(const Ranks& ranks,
                                          const MegatronVersion& version,
                                          bool has_experts,
                                          LayoutBuilder& builder);
};

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_JOB_MESHES_H_
