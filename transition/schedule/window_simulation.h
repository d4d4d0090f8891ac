// How long windows take where all parcels of a window go at once: the engine
// under the two models for grouped transports.
#ifndef TRANSITION_SCHEDULE_WINDOW_SIMULATION_H_
#define TRANSITION_SCHEDULE_WINDOW_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

// What a window costs: each port is busy for the sum of `parcel_time` over what
// it sends or over what it receives, whichever is more, and each component
// takes `window_time` more.
struct WindowCosts {
  absl::FunctionRef<int64_t(const Parcel&)> parcel_time;
  int64_t window_time = 0;
};

// When each parcel goes: all that a component has in a window goes from its
// start to its end. Ports that parcels of a window join, directly or
// through others, are a component: it starts when the last of its ports is done
// with earlier windows, and ends on all of them together.
// REQUIRES: schedule.windowed() or no parcels.
std::vector<TransferTime> WindowTimes(const Schedule& schedule,
                                      const PortMap& ports,
                                      const WindowCosts& costs);

// When the last window ends; 0 if there are none. REQUIRES: as above.
int64_t WindowsEnd(const Schedule& schedule, const PortMap& ports,
                   const WindowCosts& costs);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_WINDOW_SIMULATION_H_
