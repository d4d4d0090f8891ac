#include "transition/schedule/list_schedule.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "transition/schedule/port_graph.h"

namespace dynatrain::transition {
namespace {

// A flow in units, and the ports it uses.
struct UnitFlow {
  Flow flow;
  std::array<int, 2> port;  // by side
  int64_t units = 0;
};

// Flows that use the same two ports are one edge: [begin, end) of the sorted
// flows, served one after the other.
struct EdgeFlows {
  size_t next = 0;
  size_t end = 0;
  int64_t next_done_units = 0;
};

std::vector<UnitFlow> InUnits(const Traffic& traffic, const PortMap& ports,
                              int64_t unit_bytes) {
  std::vector<UnitFlow> flows;
  flows.reserve(traffic.flows().size());
  for (const Flow& flow : traffic.flows()) {
    flows.push_back({flow,
                     {ports[flow.sender], ports[flow.receiver]},
                     (flow.bytes + unit_bytes - 1) / unit_bytes});
  }
  std::sort(flows.begin(), flows.end(),
            [](const UnitFlow& a, const UnitFlow& b) {
              return std::tie(a.port, a.flow) < std::tie(b.port, b.flow);
            });
  return flows;
}

int64_t Horizon(absl::Span<const PortGraph::Edge> edges, int num_ports,
                int64_t slack_ppm) {
  std::vector<int64_t> load(2 * static_cast<size_t>(num_ports));
  int64_t bound = 0;
  for (const PortGraph::Edge& edge : edges) {
    for (const Side side : {kOut, kIn}) {
      int64_t& sum = load[2 * static_cast<size_t>(edge.port[side]) + side];
      bound = std::max(bound, sum += edge.left);
    }
  }
  return bound + static_cast<int64_t>(absl::uint128(bound) *
                                      absl::uint128(slack_ppm) / 1'000'000);
}

class Scheduler {
 public:
  Scheduler(std::vector<UnitFlow> flows, int num_ports,
            const ListOptions& options)
      : flows_(std::move(flows)),
        graph_(MakeGraph(num_ports, options.slack_ppm)) {
    list_.unit_bytes = options.unit_bytes;
  }

  ListSchedule Run() && {
    for (const Side side : {kOut, kIn}) {
      for (int port = 0; port < graph_.num_ports(); ++port) {
        Freed({side, port});
      }
    }
    Match();
    while (!events_.empty()) {
      now_ = events_.top().time;
      while (!events_.empty() && events_.top().time == now_) {
        const Event event = events_.top();
        events_.pop();
        Handle(event);
      }
      Match();
    }
    return Collect();
  }

 private:
  // An edge that ends, or (edge < 0) an idle port that has no slack left.
  struct Event {
    int64_t time = 0;
    int edge = -1;
    PortRef port;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tuple(a.time, a.edge, a.port.side, a.port.port) >
             std::tuple(b.time, b.edge, b.port.side, b.port.port);
    }
  };

  // Fills edge_flows_ too.
  PortGraph MakeGraph(int num_ports, int64_t slack_ppm) {
    std::vector<PortGraph::Edge> edges;
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (edges.empty() || edges.back().port != flows_[i].port) {
        edges.push_back({flows_[i].port, 0});
        edge_flows_.push_back({.next = i, .end = i});
      }
      edges.back().left += flows_[i].units;
      edge_flows_.back().end = i + 1;
    }
    const int64_t horizon = Horizon(edges, num_ports, slack_ppm);
    return PortGraph(num_ports, std::move(edges), horizon);
  }

  void Handle(const Event& event) {
    if (event.edge < 0) {
      if (graph_.idle(event.port) && graph_.tight(event.port, now_)) {
        freed_.push_back(event.port);
      }
      return;
    }
    const PortGraph::Edge& edge = graph_.edge(event.edge);
    const bool ends = graph_.running({kOut, edge.port[kOut]}) == event.edge &&
                      graph_.started(event.edge) + edge.left == now_;
    if (ends) Stop(event.edge);
  }

  void Start(int edge) {
    graph_.Start(edge, now_);
    events_.push({.time = now_ + graph_.edge(edge).left, .edge = edge});
  }

  void Stop(int edge) {
    const int64_t begin = graph_.started(edge);
    graph_.Stop(edge, now_);
    if (begin < now_) {
      Emit(edge, begin);
      if (graph_.edge(edge).left > 0) ++list_.num_preemptions;
    }
    for (const Side side : {kOut, kIn}) {
      Freed({side, graph_.edge(edge).port[side]});
    }
  }

  // The port is idle: it may be matched now.
  void Freed(PortRef port) {
    if (graph_.load(port, now_) > 0) freed_.push_back(port);
  }

  // Most left first, so that whoever has least slack chooses first.
  void SortFreed() {
    std::sort(freed_.begin(), freed_.end(), [this](PortRef a, PortRef b) {
      return std::tuple(-graph_.load(a, now_), a.side, a.port) <
             std::tuple(-graph_.load(b, now_), b.side, b.port);
    });
  }

  // Makes all ports without slack work, then whatever else can. Ports that are
  // idle and not in `freed_` have no idle port across.
  void Match() {
    SortFreed();
    for (size_t i = 0; i < freed_.size(); ++i) {  // grows: Stop() adds
      const PortRef port = freed_[i];
      if (!graph_.idle(port) || !graph_.tight(port, now_)) continue;
      const std::vector<int> path = graph_.FindPath(port, now_);
      for (size_t k = 1; k < path.size(); k += 2) Stop(path[k]);
      for (size_t k = 0; k < path.size(); k += 2) Start(path[k]);
    }
    SortFreed();
    for (const PortRef port : freed_) {
      if (!graph_.idle(port)) continue;
      const int edge = graph_.BestIdleEdge(port);
      if (edge >= 0) Start(edge);
    }
    // Who stays idle must work later.
    for (const PortRef port : freed_) {
      if (!graph_.idle(port)) continue;
      events_.push({.time = now_ + graph_.slack(port, now_), .port = port});
    }
    freed_.clear();
  }

  // What the edge did in [begin, now_), as parcels of its flows.
  void Emit(int edge, int64_t begin) {
    EdgeFlows& of_edge = edge_flows_[edge];
    while (begin < now_) {
      const UnitFlow& it = flows_[of_edge.next];
      const int64_t done = of_edge.next_done_units;
      const int64_t units = std::min(now_ - begin, it.units - done);
      const int64_t offset = done * list_.unit_bytes;
      list_.parcels.push_back(
          {{it.flow.sender, it.flow.receiver, offset,
            std::min(units * list_.unit_bytes, it.flow.bytes - offset)},
           begin,
           begin + units});
      begin += units;
      of_edge.next_done_units += units;
      if (of_edge.next_done_units == it.units) {
        ++of_edge.next;
        of_edge.next_done_units = 0;
      }
    }
  }

  ListSchedule Collect() {
    std::sort(list_.parcels.begin(), list_.parcels.end(),
              [](const TimedParcel& a, const TimedParcel& b) {
                return std::tie(a.begin, a.end, a.parcel) <
                       std::tie(b.begin, b.end, b.parcel);
              });
    for (const TimedParcel& it : list_.parcels) {
      list_.makespan_units = std::max(list_.makespan_units, it.end);
    }
    return std::move(list_);
  }

  const std::vector<UnitFlow> flows_;
  std::vector<EdgeFlows> edge_flows_;
  PortGraph graph_;
  ListSchedule list_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<PortRef> freed_;
  int64_t now_ = 0;
};

}  // namespace

ListSchedule MakeListSchedule(const Traffic& traffic, const PortMap& ports,
                              const ListOptions& options) {
  return Scheduler(InUnits(traffic, ports, options.unit_bytes), ports.num_ports,
                   options)
      .Run();
}

ListSchedule MakeListSchedule(const Traffic& traffic,
                              const ListOptions& options) {
  return MakeListSchedule(traffic, PortMap::Own(traffic.num_ranks()), options);
}

Schedule OrderOf(const ListSchedule& list) {
  Schedule schedule;
  schedule.parcels.reserve(list.parcels.size());
  for (const TimedParcel& it : list.parcels) {
    schedule.parcels.push_back(it.parcel);
  }
  return schedule;
}

}  // namespace dynatrain::transition
