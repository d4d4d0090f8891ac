#include "transition/preview/link_loads.h"

namespace dynatrain::transition {

LinkLoads ComputeLinkLoads(const Traffic& traffic,
                           const ClusterModel& cluster) {
  LinkLoads loads;
  loads.inside.resize(cluster.num_ranks());
  loads.nics.resize(cluster.num_ports(Lane::kBetween));
  loads.nodes.resize(cluster.figures().num_nodes);
  for (const Flow& flow : traffic.flows()) {
    if (cluster.LaneOf(flow.sender, flow.receiver) == Lane::kInside) {
      loads.inside_bytes += flow.bytes;
      loads.inside[flow.sender].out_bytes += flow.bytes;
      loads.inside[flow.receiver].in_bytes += flow.bytes;
      continue;
    }
    const auto nic = [&](int rank) -> PortBytes& {
      return loads.nics[cluster.PortOf(Lane::kBetween, rank)];
    };
    loads.between_bytes += flow.bytes;
    nic(flow.sender).out_bytes += flow.bytes;
    nic(flow.receiver).in_bytes += flow.bytes;
    loads.nodes[cluster.NodeOf(flow.sender)].out_bytes += flow.bytes;
    loads.nodes[cluster.NodeOf(flow.receiver)].in_bytes += flow.bytes;
  }
  return loads;
}

}  // namespace dynatrain::transition
