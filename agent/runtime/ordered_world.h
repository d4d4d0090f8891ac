// From what the agent orders to a world that can be planned with.
#ifndef AGENT_RUNTIME_ORDERED_WORLD_H_
#define AGENT_RUNTIME_ORDERED_WORLD_H_

#include "absl/status/statusor.h"
#include "api/rank/transition_order.h"
#include "transition/plan/world.h"
#include "vps/layout/manifest.h"

namespace dynatrain::runtime {

// The empty world if the order has no members. Returns kInvalidArgument naming
// what is wrong in layout text or ranks.
absl::StatusOr<transition::World> MakeWorld(const api::WorldOrder& order,
                                            const vps::Manifest& manifest);

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_ORDERED_WORLD_H_
