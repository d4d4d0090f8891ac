#include "transition/schedule/cost_model.h"

#include <algorithm>
#include <vector>

#include "transition/schedule/port_map.h"
#include "transition/schedule/queue_simulation.h"
#include "transition/schedule/window_simulation.h"

namespace dynatrain::transition {

namespace {

// Ranks that share a port use it in the order of the list. One that began
// because the ones before it had to wait makes way after a piece of this: small
// enough to hold nobody up for long, large enough that pieces are few.
int64_t TurnBytes(const Schedule& schedule, const PortMap& ports) {
  if (ports.num_ports == ports.num_ranks()) return kMaxTrafficBytes;
  std::vector<int64_t> out(ports.num_ports);
  std::vector<int64_t> in(ports.num_ports);
  int64_t most = 0;
  for (const Parcel& parcel : schedule.parcels) {
    most = std::max(most, out[ports[parcel.sender]] += parcel.bytes);
    most = std::max(most, in[ports[parcel.receiver]] += parcel.bytes);
  }
  return most / 256 + 1;
}

// Calls `simulate` with ports and costs of the lane.
template <typename T>
T InOrder(const Schedule& schedule, const ClusterModel& cluster, Lane lane,
          int64_t slot_bytes,
          T (*simulate)(const Schedule&, const PortMap&, const OrderCosts&)) {
  const int64_t rate = cluster.PortBytesPerSecond(lane);
  const PortMap ports = cluster.Ports(lane);
  const int64_t turn_slots =
      (TurnBytes(schedule, ports) + slot_bytes - 1) / slot_bytes;
  const auto piece_time = [&](int64_t bytes) {
    const int64_t slots = (bytes + slot_bytes - 1) / slot_bytes;
    return TransferNs(bytes, rate) + slots * cluster.figures().message_ns;
  };
  return simulate(
      schedule, ports,
      {.piece_time = piece_time, .piece_bytes = turn_slots * slot_bytes});
}

template <typename T>
T InGroups(const Schedule& schedule, const ClusterModel& cluster, Lane lane,
           T (*simulate)(const Schedule&, const PortMap&, const WindowCosts&)) {
  const int64_t rate = cluster.PortBytesPerSecond(lane);
  const auto parcel_time = [&](const Parcel& parcel) {
    return TransferNs(parcel.bytes, rate) + cluster.figures().message_ns;
  };
  return simulate(
      schedule, cluster.Ports(lane),
      {.parcel_time = parcel_time,
       .window_time = cluster.figures().group_ns + cluster.LatencyNs(lane)});
}

}  // namespace

int64_t OrderedNs(const Schedule& schedule, const ClusterModel& cluster,
                  Lane lane, int64_t slot_bytes) {
  if (schedule.parcels.empty()) return 0;
  return InOrder(schedule, cluster, lane, slot_bytes, OrderEnd) +
         cluster.LatencyNs(lane);
}

int64_t GroupedNs(const Schedule& schedule, const ClusterModel& cluster,
                  Lane lane) {
  return InGroups(schedule, cluster, lane, WindowsEnd);
}

std::vector<TransferTime> OrderedTimes(const Schedule& schedule,
                                       const ClusterModel& cluster, Lane lane,
                                       int64_t slot_bytes) {
  return InOrder(schedule, cluster, lane, slot_bytes, OrderTimes);
}

std::vector<TransferTime> GroupedTimes(const Schedule& schedule,
                                       const ClusterModel& cluster, Lane lane) {
  return InGroups(schedule, cluster, lane, WindowTimes);
}

}  // namespace dynatrain::transition
