// PortGraph: what is left to do in a list schedule. Ports that send on one
// side, ports that receive on the other, an edge for each pair that has units
// left, and which edges run now: a matching.
#ifndef TRANSITION_SCHEDULE_PORT_GRAPH_H_
#define TRANSITION_SCHEDULE_PORT_GRAPH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace dynatrain::transition {

enum Side { kOut = 0, kIn = 1 };
constexpr Side Opposite(Side side) { return side == kOut ? kIn : kOut; }

struct PortRef {
  Side side = kOut;
  int port = 0;
};

// Time is counted in units; an edge that runs does one unit per unit of time.
class PortGraph {
 public:
  struct Edge {
    std::array<int, 2> port;  // by side
    int64_t left = 0;         // when it last started or stopped
  };

  // `edges` with positive `left`, ascending by ports, no pair twice. `horizon`
  // >= the load of each port.
  PortGraph(int num_ports, std::vector<Edge> edges, int64_t horizon);

  const Edge& edge(int edge) const { return edges_[edge]; }
  int num_edges() const { return static_cast<int>(edges_.size()); }
  int num_ports() const { return static_cast<int>(vertices_[kOut].size()); }
  // The edge that runs at the port; -1 if it is idle.
  int running(PortRef port) const { return at(port).running; }
  bool idle(PortRef port) const { return at(port).running < 0; }
  // When the edge started. REQUIRES: it runs.
  int64_t started(int edge) const { return since_[edge]; }
  // Units that the port has left; of an idle one it does not change.
  int64_t load(PortRef port, int64_t now) const;
  // Idle time that the port has before it must work without a pause.
  int64_t slack(PortRef port, int64_t now) const {
    return horizon_ - now - load(port, now);
  }
  // True if the port must work from now on.
  bool tight(PortRef port, int64_t now) const {
    const int64_t left = load(port, now);
    return left > 0 && horizon_ - now == left;
  }

  // REQUIRES: both ports idle, the edge has units left.
  void Start(int edge, int64_t now);
  // REQUIRES: it runs.
  void Stop(int edge, int64_t now);

  // The edge from an idle port to that idle port across with the most left, the
  // first of equals; -1 if there is none. O(edges of the port), or less where
  // few ports are idle.
  int BestIdleEdge(PortRef port) const;

  // Edges to start, and between them edges to stop, so that the idle port
  // `from` runs: an alternating path whose first edge starts at `from`, and
  // which ends at an idle port across or by stopping a port on the side of
  // `from` that has slack. Start edges are at even places.
  // REQUIRES: `from` is idle and tight; all tight ports but some idle ones run.
  std::vector<int> FindPath(PortRef from, int64_t now);

 private:
  struct Vertex {
    // By the port across, ascending; with units left, but for `num_ended`.
    std::vector<int> edges;
    int num_ended = 0;
    int64_t left = 0;  // when it last started or stopped
    int running = -1;
    int idle_place = -1;  // in idle_; -1 if it runs or has nothing left
  };

  const Vertex& at(PortRef port) const {
    return vertices_[port.side][port.port];
  }
  Vertex& at(PortRef port) { return vertices_[port.side][port.port]; }
  // Takes note that an edge of the vertex has ended; drops such edges once they
  // are half of all, so that passing over them and dropping them are both
  // cheap.
  void Ended(Vertex& vertex);
  void AddIdle(PortRef port);
  void RemoveIdle(PortRef port);
  // The edge between a port and one across; -1 if there is none. O(log edges).
  int EdgeTo(const Vertex& vertex, Side across, int port) const;

  const int64_t horizon_;
  std::vector<Edge> edges_;
  std::vector<int64_t> since_;
  std::array<std::vector<Vertex>, 2> vertices_;
  std::array<std::vector<int>, 2> idle_;  // ports with units left, in any order
  // For FindPath: the search in which a port was last reached, and by which
  // edge.
  int64_t search_ = 0;
  std::vector<int64_t> reached_in_;
  std::vector<int> reached_by_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PORT_GRAPH_H_
