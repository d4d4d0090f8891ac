// The memory of a plan's ranks, from the layouts of both worlds.
#ifndef TRANSITION_STAGE_PLAN_MEMORY_H_
#define TRANSITION_STAGE_PLAN_MEMORY_H_

#include "transition/plan/plan_input.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

// What can be given back by itself.
enum class Granularity {
  kExtents = 0,  // any bytes, or pages: arenas that unmap them
  kTensors = 1,  // a rank's part of a copy of a tensor: torch's allocator
  kBuffers =
      2,  // a buffer of the layout: one flat allocation; others as tensors
};

// Ranks are union indices (PlanInput::num_processes), as in MovesOf.
// `dead_bytes`: of each rank of the source world. `extent_bytes`: of a page, if
// granularity is kExtents.
WorldMemory MemoryOf(const PlanInput& input,
                     Granularity granularity = Granularity::kExtents,
                     int64_t dead_bytes = 0, int64_t extent_bytes = 1);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_PLAN_MEMORY_H_
