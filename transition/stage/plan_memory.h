// The memory of a plan's ranks, from the layouts of both worlds.
#ifndef TRANSITION_STAGE_PLAN_MEMORY_H_
#define TRANSITION_STAGE_PLAN_MEMORY_H_

#include "transition/plan/plan_input.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

// What can be given back by itself.
enum class Granularity {
  kExtents = 0,  // any bytes: arenas that unmap pages
  kTensors = 1,  // a rank's part of a copy of a tensor: torch's allocator
  kBuffers =
      2,  // a buffer of the layout: one flat allocation; others as tensors
};

// Ranks are union indices (PlanInput::num_processes), as in MovesOf.
// `dead_bytes`: of each rank of the source world.
WorldMemory MemoryOf(const PlanInput& input,
                     Granularity granularity = Granularity::kExtents,
                     int64_t dead_bytes = 0);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_PLAN_MEMORY_H_
