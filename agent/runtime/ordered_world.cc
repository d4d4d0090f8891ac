#include "agent/runtime/ordered_world.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/mesh.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::runtime {

absl::StatusOr<transition::World> MakeWorld(const api::WorldOrder& order,
                                            const vps::Manifest& manifest) {
  if (order.members.empty()) return transition::World();
  ASSIGN_OR_RETURN(const vps::AxisSizes sizes,
                   vps::AxisSizes::Parse(order.layout));
  ASSIGN_OR_RETURN(vps::Layout layout,
                   vps::MakeLayout(vps::Mesh::Of(sizes), manifest));
  std::vector<transition::Process> processes;
  for (const api::MemberOrder& member : order.members) {
    for (const api::RankOrder& rank : member.ranks) {
      processes.push_back({.id = rank.process_id,
                           .member = member.serial,
                           .node = member.node});
    }
  }
  return transition::World::Create(std::move(layout), std::move(processes));
}

}  // namespace dynatrain::runtime
