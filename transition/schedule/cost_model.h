// The cost model: how long a schedule of one lane takes on a cluster, in
// nanoseconds. Beside bandwidth it counts what a message costs, latency, what
// it costs to start a group, and ranks that share a NIC.
#ifndef TRANSITION_SCHEDULE_COST_MODEL_H_
#define TRANSITION_SCHEDULE_COST_MODEL_H_

#include <cstdint>
#include <vector>

#include "transition/schedule/cluster_model.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

// When the last byte has arrived if ranks send and receive in their orders,
// slot by slot with credits enough that latency is hidden but for the last: a
// parcel occupies its ports for its bytes plus message_ns per slot. REQUIRES:
// all parcels on `lane`, their ranks in the cluster, slot_bytes >= 1.
int64_t OrderedNs(const Schedule& schedule, const ClusterModel& cluster,
                  Lane lane, int64_t slot_bytes);

// The same if each window is one group on each rank: it costs group_ns and one
// latency, its busiest port the bytes plus message_ns per parcel.
// REQUIRES: as above; schedule.windowed() or no parcels.
int64_t GroupedNs(const Schedule& schedule, const ClusterModel& cluster,
                  Lane lane);

// When each parcel goes, as the two above say: in the order of the schedule,
// with slots of a parcel together while nobody else waits for its port. The
// last one ends at OrderedNs, less one latency, or at GroupedNs. Of a group,
// all parcels of ranks that wait for one another begin and end together.
std::vector<TransferTime> OrderedTimes(const Schedule& schedule,
                                       const ClusterModel& cluster, Lane lane,
                                       int64_t slot_bytes);
std::vector<TransferTime> GroupedTimes(const Schedule& schedule,
                                       const ClusterModel& cluster, Lane lane);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_COST_MODEL_H_
