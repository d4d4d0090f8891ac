#include "transition/schedule/port_model.h"

#include <algorithm>
#include <vector>

#include "transition/schedule/queue_simulation.h"
#include "transition/schedule/window_simulation.h"

namespace dynatrain::transition {

int64_t OrderedMakespan(const Schedule& schedule, const PortMap& ports,
                        const CreditOptions& options) {
  std::vector<TransferJob> jobs;
  jobs.reserve(schedule.parcels.size());
  for (const Parcel& parcel : schedule.parcels) {
    for (int64_t done = 0; done < parcel.bytes; done += options.slot_bytes) {
      jobs.push_back(
          {.sender = parcel.sender,
           .receiver = parcel.receiver,
           .out_port = ports[parcel.sender],
           .in_port = ports[parcel.receiver],
           .duration = std::min(options.slot_bytes, parcel.bytes - done)});
    }
  }
  int64_t makespan = 0;
  for (int64_t end :
       EndTimes(jobs, ports.num_ranks(), ports.num_ports, options.credits)) {
    makespan = std::max(makespan, end);
  }
  return makespan;
}

int64_t WindowedMakespan(const Schedule& schedule, const PortMap& ports) {
  return WindowsEnd(schedule, ports, {.parcel_time = [](const Parcel& parcel) {
                      return parcel.bytes;
                    }});
}

}  // namespace dynatrain::transition
