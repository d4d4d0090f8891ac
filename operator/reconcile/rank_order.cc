#include "operator/reconcile/rank_order.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "api/manifest/json_codec.h"
#include "base/status_macros.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/relabel.h"
#include "transition/plan/world.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/manifest.h"
#include "vps/layout/mesh.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::control {
namespace {

using transition::PlanInput;
using transition::Process;
using transition::Relabeling;
using transition::World;

constexpr int64_t kMaxRanks = 512;
constexpr int64_t kMaxTensors = 4'000'000;  // times ranks

// Processes are numbered by member: which they are doesn't matter, but that
// they are the same in both worlds.
absl::StatusOr<World> WorldOf(const MemberWorld& world,
                              const vps::Manifest& manifest,
                              int ranks_per_member) {
  ASSIGN_OR_RETURN(const vps::AxisSizes sizes,
                   vps::AxisSizes::Parse(world.layout));
  ASSIGN_OR_RETURN(vps::Layout layout,
                   vps::MakeLayout(vps::Mesh::Of(sizes), manifest));
  std::vector<Process> processes;
  for (const uint32_t serial : world.members) {
    for (int i = 0; i < ranks_per_member; ++i) {
      processes.push_back(
          {uint64_t{serial} * ranks_per_member + i + 1, serial});
    }
  }
  return World::Create(std::move(layout), std::move(processes));
}

absl::StatusOr<Relabeling> RelabelMembers(absl::string_view manifest_text,
                                          const MemberWorld& source,
                                          const MemberWorld& target,
                                          int ranks_per_member) {
  ASSIGN_OR_RETURN(const vps::Manifest manifest,
                   api::DecodeManifest(manifest_text));
  const int64_t ranks = static_cast<int64_t>(std::max(source.members.size(),
                                                      target.members.size())) *
                        ranks_per_member;
  const int64_t tensors = static_cast<int64_t>(manifest.tensors().size());
  if (ranks > kMaxRanks || ranks * tensors > kMaxTensors) {
    return absl::ResourceExhaustedError("too large to be reordered");
  }
  ASSIGN_OR_RETURN(World from, WorldOf(source, manifest, ranks_per_member));
  ASSIGN_OR_RETURN(World to, WorldOf(target, manifest, ranks_per_member));
  ASSIGN_OR_RETURN(const PlanInput input,
                   PlanInput::Create(std::move(from), std::move(to)));
  return Relabel(input, {.unit = transition::RelabelUnit::kMember});
}

}  // namespace

std::vector<uint32_t> OrderThatKeepsMost(absl::string_view manifest,
                                         const MemberWorld& source,
                                         const MemberWorld& target,
                                         int ranks_per_member) {
  if (manifest.empty() || source.members.empty()) return target.members;
  const absl::StatusOr<Relabeling> relabeling =
      RelabelMembers(manifest, source, target, ranks_per_member);
  if (!relabeling.ok() || !relabeling->members_whole ||
      relabeling->kept_bytes <= relabeling->given_kept_bytes) {
    return target.members;
  }
  std::vector<uint32_t> members;
  for (int rank = 0; rank < relabeling->target.size();
       rank += ranks_per_member) {
    members.push_back(relabeling->target.process(rank).member);
  }
  return members;
}

}  // namespace dynatrain::control
