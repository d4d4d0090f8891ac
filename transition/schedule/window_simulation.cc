#include "transition/schedule/window_simulation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace dynatrain::transition {
namespace {

struct Port {
  int64_t free_at = 0;
  // Of the current window; the values of a component are at its root.
  int root = 0;
  int64_t out = 0;
  int64_t in = 0;
  int64_t component_start = 0;
  int64_t component_busy = 0;
};

class Windows {
 public:
  Windows(const PortMap& map, const WindowCosts& costs)
      : map_(map), costs_(costs), ports_(map.num_ports) {
    for (int port = 0; port < map.num_ports; ++port) ports_[port].root = port;
  }

  // Runs one window; its parcels are appended to `times`.
  void Run(absl::Span<const Parcel> parcels, std::vector<TransferTime>& times) {
    touched_.clear();
    for (const Parcel& parcel : parcels) {
      const int out = map_[parcel.sender];
      const int in = map_[parcel.receiver];
      const int64_t time = costs_.parcel_time(parcel);
      ports_[out].out += time;
      ports_[in].in += time;
      touched_.push_back(out);
      touched_.push_back(in);
      Join(out, in);
    }
    for (int port : touched_) GatherAtRoot(port);
    for (const Parcel& parcel : parcels) {
      const Port& root = ports_[Root(map_[parcel.sender])];
      times.push_back({parcel, root.component_start, EndOf(root)});
    }
    for (int port : touched_) ports_[port].free_at = EndOf(ports_[Root(port)]);
    for (int port : touched_) Reset(port);
  }

 private:
  int Root(int port) {
    while (ports_[port].root != port) {
      ports_[port].root = ports_[ports_[port].root].root;
      port = ports_[port].root;
    }
    return port;
  }

  void Join(int a, int b) { ports_[Root(a)].root = Root(b); }

  void GatherAtRoot(int index) {
    const Port& port = ports_[index];
    Port& root = ports_[Root(index)];
    root.component_start = std::max(root.component_start, port.free_at);
    root.component_busy = std::max({root.component_busy, port.out, port.in});
  }

  int64_t EndOf(const Port& root) const {
    return root.component_start + root.component_busy + costs_.window_time;
  }

  void Reset(int index) {
    ports_[index] = {.free_at = ports_[index].free_at, .root = index};
  }

  const PortMap& map_;
  const WindowCosts& costs_;
  std::vector<Port> ports_;
  std::vector<int> touched_;  // a port may be there more than once
};

}  // namespace

std::vector<TransferTime> WindowTimes(const Schedule& schedule,
                                      const PortMap& ports,
                                      const WindowCosts& costs) {
  Windows windows(ports, costs);
  std::vector<TransferTime> times;
  times.reserve(schedule.parcels.size());
  for (int window = 0; window < schedule.num_windows(); ++window) {
    windows.Run(schedule.window(window), times);
  }
  return times;
}

int64_t WindowsEnd(const Schedule& schedule, const PortMap& ports,
                   const WindowCosts& costs) {
  int64_t end = 0;
  for (const TransferTime& parcel : WindowTimes(schedule, ports, costs)) {
    end = std::max(end, parcel.end);
  }
  return end;
}

}  // namespace dynatrain::transition
