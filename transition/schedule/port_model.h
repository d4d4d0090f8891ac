// The bandwidth-only port model: a port sends one parcel and receives one
// parcel at a time, each byte takes one unit of time, and nothing else costs
// anything. Its lower bound is PortBound; how near a schedule comes to it says
// how good the order is, whatever the cluster.
#ifndef TRANSITION_SCHEDULE_PORT_MODEL_H_
#define TRANSITION_SCHEDULE_PORT_MODEL_H_

#include <cstdint>

#include "transition/schedule/port_map.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

struct CreditOptions {
  // Slots that a receiver has posted ahead, in its receiving order.
  int credits = 1;
  // Parcels move slot by slot.
  int64_t slot_bytes = kMaxTrafficBytes;
};

// When the last parcel has arrived, in bytes, if each rank sends in its order
// and takes any of the next `credits` slots of its receiving order. With one
// credit no parcel arrives later than in any other execution of the same orders
// (0003-schedule, "early is never late"); with more, a slot that comes before
// its turn can hold up the port for as long as it takes, so slots are small.
// REQUIRES: credits, slot_bytes >= 1; ranks of parcels in [0,
// ports.num_ranks()).
int64_t OrderedMakespan(const Schedule& schedule, const PortMap& ports,
                        const CreditOptions& options = {});

// The same where each rank does one window at a time, all its parcels at once.
// Ranks that are bound together by parcels of a window (a connected component)
// do it in the time of their busiest port, which is what sharing all ports
// fairly takes on all patterns measured (PERFORMANCE, section 5: "fluid").
// REQUIRES: schedule.windowed() or no parcels.
int64_t WindowedMakespan(const Schedule& schedule, const PortMap& ports);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PORT_MODEL_H_
