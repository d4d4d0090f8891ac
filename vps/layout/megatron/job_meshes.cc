#include "vps/layout/megatron/job_meshes.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace dynatrain::vps::megatron {
namespace {

AxisGroup GroupOf(const Mesh& mesh, absl::Span<const std::string> axes,
                  int pieces) {
  AxisGroup group = {.pieces = pieces};
  for (const std::string& axis : axes) {
    group.axes.push_back(*mesh.AxisIndex(axis));
  }
  return group;
}

MeshRole RoleOf(const Mesh& mesh, int index, absl::string_view cut_axis) {
  MeshRole role = {.mesh = index,
                   .located_by = {*mesh.AxisIndex("pp")},
                   .cut_axis = *mesh.AxisIndex(cut_axis)};
  role.cut_pieces = mesh.size(role.cut_axis);
  return role;
}

int StrideOf(const Mesh& mesh, absl::string_view axis) {
  return mesh.stride(*mesh.AxisIndex(axis));
}

// Ranks that differ on etp alone differ on tp alone.
bool LieAlike(const Ranks& ranks) {
  return ranks.etp() == 1 ||
         StrideOf(ranks.dense(), "tp") == StrideOf(ranks.expert(), "etp");
}

// The dense mesh with etp as the fast part of tp.
absl::StatusOr<Mesh> MixedMesh(const Ranks& ranks) {
  if (ranks.tp() % ranks.etp() != 0 || !LieAlike(ranks)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "etp ", ranks.etp(), " with ep 1 and tp ", ranks.tp(),
        ": this version of Megatron-Core reduces gradients of experts over ",
        "the ranks of dense parameters, and here these do not all have the ",
        "same part of an expert; etp ", ranks.tp(), ", as tp, in order \"",
        kDefaultOrder, "\" would do"));
  }
  std::vector<MeshAxis> axes;
  for (const MeshAxis& axis : ranks.dense().axes()) {
    if (axis.name != "tp") {
      axes.push_back(axis);
      continue;
    }
    axes.push_back({"tp/etp", ranks.tp() / ranks.etp()});
    axes.push_back({"etp", ranks.etp()});
  }
  return Mesh::Create(std::move(axes));
}

}  // namespace

absl::StatusOr<JobMeshes> JobMeshes::Create(const Ranks& ranks,
                                            const MegatronVersion& version,
                                            bool has_experts,
                                            LayoutBuilder& builder) {
  JobMeshes meshes;
  meshes.dense = RoleOf(ranks.dense(), builder.AddMesh(ranks.dense()), "tp");
  meshes.dense.shards =
      GroupOf(ranks.dense(), ranks.dense_shard_axes(), ranks.dense_shards());
  meshes.experts = meshes.dense;
  if (!has_experts) return meshes;
  meshes.experts_apart =
      ranks.ep() > 1 ||
      (version.experts_apart_if_etp_differs && ranks.etp() != ranks.tp());
  if (meshes.experts_apart) {
    const Mesh& mesh = ranks.expert();
    meshes.experts = RoleOf(mesh, builder.AddMesh(mesh), "etp");
    meshes.experts.located_by.push_back(*mesh.AxisIndex("ep"));
    meshes.experts.shards =
        GroupOf(mesh, ranks.expert_shard_axes(), ranks.expert_shards());
  } else if (ranks.etp() != ranks.tp() || !LieAlike(ranks)) {
    ASSIGN_OR_RETURN(const Mesh mesh, MixedMesh(ranks));
    meshes.experts = RoleOf(mesh, builder.AddMesh(mesh), "etp");
    meshes.experts.shards =
        GroupOf(mesh, ranks.dense_shard_axes(), ranks.dense_shards());
  }
  return meshes;
}

}  // namespace dynatrain::vps::megatron
