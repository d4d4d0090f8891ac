#include "transition/schedule/port_model.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "transition/schedule/queue_simulation.h"
#include "transition/schedule/window_simulation.h"

namespace dynatrain::transition {

int64_t OrderedMakespan(const Schedule& schedule, int num_ranks,
                        const CreditOptions& options) {
  std::vector<TransferJob> jobs;
  jobs.reserve(schedule.parcels.size());
  for (const Parcel& parcel : schedule.parcels) {
    for (int64_t done = 0; done < parcel.bytes; done += options.slot_bytes) {
      jobs.push_back(
          {.sender = parcel.sender,
           .receiver = parcel.receiver,
           .out_port = parcel.sender,
           .in_port = parcel.receiver,
           .duration = std::min(options.slot_bytes, parcel.bytes - done)});
    }
  }
  int64_t makespan = 0;
  for (int64_t end : EndTimes(jobs, num_ranks, num_ranks, options.credits)) {
    makespan = std::max(makespan, end);
  }
  return makespan;
}

int64_t WindowedMakespan(const Schedule& schedule, int num_ranks) {
  std::vector<int> port_of_rank(num_ranks);
  std::iota(port_of_rank.begin(), port_of_rank.end(), 0);
  return WindowsEnd(schedule, {.port_of_rank = port_of_rank,
                               .num_ports = num_ranks,
                               .parcel_time = [](const Parcel& parcel) {
                                 return parcel.bytes;
                               }});
}

}  // namespace dynatrain::transition
