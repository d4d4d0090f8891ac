// The engine under the two models: jobs that each need a sender, a receiver and
// two ports for a while, started as early as their order allows. Integers only;
// ties go to the job that is first in the list.
#ifndef TRANSITION_SCHEDULE_QUEUE_SIMULATION_H_
#define TRANSITION_SCHEDULE_QUEUE_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

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

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_QUEUE_SIMULATION_H_
