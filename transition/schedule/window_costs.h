// What windows cost, with the arithmetic: the busiest port of each window, and
// what it takes to begin and to end one.
//
//   all ranks do window after window; ports work at once
//   time = sum over windows of (busiest port + latency [+ group])
//
// No rank is later than that, since none waits for more than its window.
#ifndef TRANSITION_SCHEDULE_WINDOW_COSTS_H_
#define TRANSITION_SCHEDULE_WINDOW_COSTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/cost.h"
#include "transition/schedule/execution.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

// Of a windowed schedule whose parcels may be of both lanes.
// REQUIRES: ranks of the cluster.
Cost CostOfWindows(std::string name, const Schedule& schedule,
                   const ClusterModel& cluster, Execution execution);

// When each parcel goes by that sum, in the order of the schedule: all of a
// window from its begin to its end, latency and group included.
// REQUIRES: as above.
std::vector<TransferTime> TimesOfWindows(const Schedule& schedule,
                                         const ClusterModel& cluster,
                                         Execution execution);

// The least that sending `parcels` by itself costs, whatever the order: the
// busiest port, one latency, one group.
Cost CostOfSending(absl::Span<const Parcel> parcels,
                   const ClusterModel& cluster, Execution execution);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_WINDOW_COSTS_H_
