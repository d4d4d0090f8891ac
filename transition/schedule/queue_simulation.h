// The engine under the two models: jobs that each need a sender, a receiver and
// two ports for a while, started as early as their order allows. Integers only;
// ties go to the job that is first in the list.
#ifndef TRANSITION_SCHEDULE_QUEUE_SIMULATION_H_
#define TRANSITION_SCHEDULE_QUEUE_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct TransferJob {
  int sender = 0;    // sends its jobs one at a time, in the order of the list
  int receiver = 0;  // takes any of its next `credits` unfinished jobs
  int out_port = 0;  // serve one job at a time, in any order
  int in_port = 0;
  int64_t duration = 0;
};

// When each job ends, time 0 being the start. Jobs are not preempted. With one
// credit a receiver takes its jobs strictly in order.
//
// Never stuck: the first unfinished job of the list is next at its sender and
// within the receiver's credits, and ports come free.
//
// REQUIRES: 0 <= sender, receiver < num_ends; 0 <= ports < num_ports;
// durations >= 0; credits >= 1. O(jobs x log(jobs)) unless many wait for one
// port.
std::vector<int64_t> EndTimes(absl::Span<const TransferJob> jobs, int num_ends,
                              int num_ports, int credits);

// What an ordered schedule costs: parcels go piece by piece, each of which
// occupies its ports for piece_time(its bytes).
struct OrderCosts {
  absl::FunctionRef<int64_t(int64_t)> piece_time;
  int64_t piece_bytes = kMaxTrafficBytes;
  int credits = 1;
};

// The pieces of all parcels, in the order of the schedule, and when they go.
// REQUIRES: piece_bytes, credits >= 1; ranks of parcels in
// [0, ports.num_ranks()).
std::vector<TransferTime> OrderTimes(const Schedule& schedule,
                                     const PortMap& ports,
                                     const OrderCosts& costs);

// When the last piece ends; 0 if there are no parcels. REQUIRES: as above.
int64_t OrderEnd(const Schedule& schedule, const PortMap& ports,
                 const OrderCosts& costs);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_QUEUE_SIMULATION_H_
