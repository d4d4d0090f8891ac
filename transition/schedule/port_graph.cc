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
    for (int port = 0; port < num_ports; ++port) {
      if (vertices_[side][port].left > 0) AddIdle({side, port});
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
    const PortRef port = {side, edges_[edge].port[side]};
    RemoveIdle(port);
    at(port).running = edge;
  }
}

void PortGraph::Stop(int edge, int64_t now) {
  const int64_t done = now - since_[edge];
  edges_[edge].left -= done;
  for (const Side side : {kOut, kIn}) {
    const PortRef port = {side, edges_[edge].port[side]};
    Vertex& vertex = at(port);
    vertex.running = -1;
    vertex.left -= done;
    if (edges_[edge].left == 0) Ended(vertex);
    if (vertex.left > 0) AddIdle(port);
  }
}

void PortGraph::Ended(Vertex& vertex) {
  if (2 * static_cast<size_t>(++vertex.num_ended) < vertex.edges.size()) return;
  const auto ended = [this](int edge) { return edges_[edge].left == 0; };
  vertex.edges.erase(
      std::remove_if(vertex.edges.begin(), vertex.edges.end(), ended),
      vertex.edges.end());
  vertex.num_ended = 0;
}

void PortGraph::AddIdle(PortRef port) {
  at(port).idle_place = static_cast<int>(idle_[port.side].size());
  idle_[port.side].push_back(port.port);
}

void PortGraph::RemoveIdle(PortRef port) {
  std::vector<int>& idle = idle_[port.side];
  const int place = std::exchange(at(port).idle_place, -1);
  if (place + 1 < static_cast<int>(idle.size())) {
    idle[place] = idle.back();
    vertices_[port.side][idle[place]].idle_place = place;
  }
  idle.pop_back();
}

int PortGraph::EdgeTo(const Vertex& vertex, Side across, int port) const {
  const auto edge = std::lower_bound(
      vertex.edges.begin(), vertex.edges.end(), port,
      [&](int edge, int port) { return edges_[edge].port[across] < port; });
  if (edge == vertex.edges.end() || edges_[*edge].port[across] != port) {
    return -1;
  }
  return *edge;
}

int PortGraph::BestIdleEdge(PortRef port) const {
  const Vertex& vertex = at(port);
  const Side across = Opposite(port.side);
  int best = -1;
  int64_t best_load = -1;
  const auto consider = [&](int edge) {
    const Vertex& other = vertices_[across][edges_[edge].port[across]];
    if (other.running >= 0 || edges_[edge].left == 0) return;
    if (other.left > best_load || (other.left == best_load && edge < best)) {
      best = edge;
      best_load = other.left;
    }
  };
  // A look-up costs about 8 steps along the list.
  if (8 * idle_[across].size() < vertex.edges.size()) {
    for (const int other : idle_[across]) {
      const int edge = EdgeTo(vertex, across, other);
      if (edge >= 0) consider(edge);
    }
  } else {
    for (const int edge : vertex.edges) consider(edge);
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
    for (const int edge : vertices_[side][queue[next]].edges) {
      if (edges_[edge].left == 0) continue;
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
