// PortMap: which port each rank sends and receives through. Ranks with the same
// port share its bandwidth; no two of them use it at once in one direction.
#ifndef TRANSITION_SCHEDULE_PORT_MAP_H_
#define TRANSITION_SCHEDULE_PORT_MAP_H_

#include <numeric>
#include <vector>

namespace dynatrain::transition {

struct PortMap {
  std::vector<int> port_of_rank;  // each in [0, num_ports)
  int num_ports = 0;

  int num_ranks() const { return static_cast<int>(port_of_rank.size()); }
  int operator[](int rank) const { return port_of_rank[rank]; }

  // A port of its own for each rank.
  static PortMap Own(int num_ranks) {
    PortMap ports = {std::vector<int>(num_ranks), num_ranks};
    std::iota(ports.port_of_rank.begin(), ports.port_of_rank.end(), 0);
    return ports;
  }

  friend bool operator==(const PortMap&, const PortMap&) = default;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_PORT_MAP_H_
