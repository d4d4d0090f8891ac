#include "transition/schedule/window_costs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dynatrain::transition {
namespace {

struct Busiest {
  int64_t ns = 0;
  int64_t bytes = 0;  // of the port that takes longest
  int64_t messages = 0;
  int64_t latency_ns = 0;  // of the slowest lane that is used
};

// Loads of all ports by the parcels of one window.
class Loads {
 public:
  explicit Loads(const ClusterModel& cluster) : cluster_(cluster) {
    for (const Lane lane : kLanes) {
      ports_[Index(lane)].resize(size_t{2} * cluster.num_ports(lane));
    }
  }

  Busiest Of(absl::Span<const Parcel> parcels) {
    Busiest busiest;
    for (const Parcel& it : parcels) {
      const Lane lane = cluster_.LaneOf(it.sender, it.receiver);
      Add(lane, 2 * cluster_.PortOf(lane, it.sender), it.bytes, busiest);
      Add(lane, 2 * cluster_.PortOf(lane, it.receiver) + 1, it.bytes, busiest);
      busiest.latency_ns =
          std::max(busiest.latency_ns, cluster_.LatencyNs(lane));
    }
    for (const auto& [lane, port] : touched_) ports_[Index(lane)][port] = {};
    touched_.clear();
    return busiest;
  }

 private:
  struct Port {
    int64_t bytes = 0;
    int64_t messages = 0;
  };
  static size_t Index(Lane lane) { return static_cast<size_t>(lane); }

  void Add(Lane lane, int index, int64_t bytes, Busiest& busiest) {
    Port& port = ports_[Index(lane)][index];
    if (port.messages == 0) touched_.emplace_back(lane, index);
    port.bytes += bytes;
    ++port.messages;
    const int64_t ns =
        TransferNs(port.bytes, cluster_.PortBytesPerSecond(lane)) +
        port.messages * cluster_.figures().message_ns;
    if (ns <= busiest.ns) return;
    busiest.ns = ns;
    busiest.bytes = port.bytes;
    busiest.messages = port.messages;
  }

  const ClusterModel& cluster_;
  std::array<std::vector<Port>, 2> ports_;  // out and in of each, by lane
  std::vector<std::pair<Lane, int>> touched_;
};

int64_t GroupNs(const ClusterModel& cluster, Execution execution) {
  return execution == Execution::kGrouped ? cluster.figures().group_ns : 0;
}

}  // namespace

Cost CostOfWindows(std::string name, const Schedule& schedule,
                   const ClusterModel& cluster, Execution execution) {
  Loads loads(cluster);
  Busiest sum;
  for (int window = 0; window < schedule.num_windows(); ++window) {
    const Busiest busiest = loads.Of(schedule.window(window));
    sum.ns += busiest.ns;
    sum.bytes += busiest.bytes;
    sum.messages += busiest.messages;
    sum.latency_ns += busiest.latency_ns;
  }
  return {
      std::move(name),
      {{absl::StrCat(sum.bytes, " bytes in ", sum.messages,
                     " messages through the busiest ports"),
        sum.ns},
       {absl::StrCat(schedule.num_windows(), " x group"),
        schedule.num_windows() * GroupNs(cluster, execution)},
       {absl::StrCat(schedule.num_windows(), " x latency"), sum.latency_ns}}};
}

std::vector<TransferTime> TimesOfWindows(const Schedule& schedule,
                                         const ClusterModel& cluster,
                                         Execution execution) {
  Loads loads(cluster);
  std::vector<TransferTime> times;
  times.reserve(schedule.parcels.size());
  int64_t begin = 0;
  for (int window = 0; window < schedule.num_windows(); ++window) {
    const Busiest busiest = loads.Of(schedule.window(window));
    const int64_t end =
        begin + busiest.ns + busiest.latency_ns + GroupNs(cluster, execution);
    for (const Parcel& it : schedule.window(window)) {
      times.push_back({it, begin, end});
    }
    begin = end;
  }
  return times;
}

Cost CostOfSending(absl::Span<const Parcel> parcels,
                   const ClusterModel& cluster, Execution execution) {
  const Busiest busiest = Loads(cluster).Of(parcels);
  return {"point to point",
          {{absl::StrCat(busiest.bytes, " bytes in ", busiest.messages,
                         " messages through the busiest port"),
            busiest.ns},
           {"group", GroupNs(cluster, execution)},
           {"latency", busiest.latency_ns}}};
}

}  // namespace dynatrain::transition
