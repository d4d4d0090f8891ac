#include "transition/schedule/port_graph.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace dynatrain::transition {

PortGraph::PortGraph(int num_ports, std::vector<Edge> edges, int64_t horizon)
    : horizon_(horizon),
      edges_(std::move(edges)),
      since_(edges_.size()),
      reached_in_(num_ports),
      reached_by_(num_ports) {
  for (const Side side : {kOut, kIn}) {
    vertices_[side].resize(num_ports);
    for (int edge = 0; edge < num_edges(); ++edge) {
      Vertex& vertex = vertices_[side][edges_[edge].port[side]];
      vertex.edges.push_back(edge);
      vertex.left += edges_[edge].left;
    }
  }
}

int64_t PortGraph::load(PortRef port, int64_t now) const {
  const Vertex& vertex = at(port);
  if (vertex.running < 0) return vertex.left;
  return vertex.left - (now - since_[vertex.running]);
}

void PortGraph::Start(int edge, int64_t now) {
  since_[edge] = now;
  for (const Side side : {kOut, kIn}) {
    vertices_[side][edges_[edge].port[side]].running = edge;
  }
}

void PortGraph::Stop(int edge, int64_t now) {
  const int64_t done = now - since_[edge];
  edges_[edge].left -= done;
  for (const Side side : {kOut, kIn}) {
    Vertex& vertex = vertices_[side][edges_[edge].port[side]];
    vertex.running = -1;
    vertex.left -= done;
  }
}

void PortGraph::Tidy(Vertex& vertex) {
  const auto ended = [this](int edge) { return edges_[edge].left == 0; };
  vertex.edges.erase(
      std::remove_if(vertex.edges.begin(), vertex.edges.end(), ended),
      vertex.edges.end());
}

int PortGraph::BestIdleEdge(PortRef port, int64_t now) {
  Vertex& vertex = at(port);
  Tidy(vertex);
  const Side across = Opposite(port.side);
  int best = -1;
  int64_t best_load = -1;
  for (const int edge : vertex.edges) {
    const PortRef other = {across, edges_[edge].port[across]};
    if (!idle(other)) continue;
    const int64_t other_load = load(other, now);
    if (other_load > best_load) {
      best = edge;
      best_load = other_load;
    }
  }
  return best;
}

std::vector<int> PortGraph::FindPath(PortRef from, int64_t now) {
  const Side side = from.side;
  const Side across = Opposite(side);
  ++search_;
  // Breadth first, so that as few transfers as can be are interrupted.
  std::vector<int> queue = {from.port};
  for (size_t next = 0; next < queue.size(); ++next) {
    Vertex& vertex = vertices_[side][queue[next]];
    Tidy(vertex);
    for (const int edge : vertex.edges) {
      const int other = edges_[edge].port[across];
      if (reached_in_[other] == search_) continue;
      reached_in_[other] = search_;
      reached_by_[other] = edge;
      const int stopped = vertices_[across][other].running;
      const bool ends =
          stopped < 0 || !tight({side, edges_[stopped].port[side]}, now);
      if (!ends) {
        queue.push_back(edges_[stopped].port[side]);
        continue;
      }
      std::vector<int> path;
      if (stopped >= 0) path.push_back(stopped);
      for (int port = other;;) {
        const int start = reached_by_[port];
        path.push_back(start);
        const PortRef mine = {side, edges_[start].port[side]};
        if (mine.port == from.port) break;
        path.push_back(running(mine));
        port = edges_[running(mine)].port[across];
      }
      std::reverse(path.begin(), path.end());
      return path;
    }
  }
  // Hall's condition holds while no port has more left than there is time, so
  // there is a path (0003-schedule).
  std::abort();
}

}  // namespace dynatrain::transition
