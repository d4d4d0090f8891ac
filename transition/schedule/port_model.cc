#include "transition/schedule/port_model.h"

#include "transition/schedule/queue_simulation.h"
#include "transition/schedule/window_simulation.h"

namespace dynatrain::transition {

int64_t OrderedMakespan(const Schedule& schedule, const PortMap& ports,
                        const CreditOptions& options) {
  return OrderEnd(schedule, ports,
                  {.piece_time = [](int64_t bytes) { return bytes; },
                   .piece_bytes = options.slot_bytes,
                   .credits = options.credits});
}

int64_t WindowedMakespan(const Schedule& schedule, const PortMap& ports) {
  return WindowsEnd(schedule, ports, {.parcel_time = [](const Parcel& parcel) {
                      return parcel.bytes;
                    }});
}

}  // namespace dynatrain::transition
