// Execution: how the transport goes through a schedule.
#ifndef TRANSITION_SCHEDULE_EXECUTION_H_
#define TRANSITION_SCHEDULE_EXECUTION_H_

namespace dynatrain::transition {

enum class Execution {
  kOrdered = 0,  // each rank by its order, with credits (host transports)
  kGrouped = 1,  // window by window, each a group (NCCL)
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_EXECUTION_H_
