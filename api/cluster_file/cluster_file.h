// Cluster files: the figures of a cluster as YAML (or JSON). Units end the
// names; GB is 10^9 bytes, GiB 2^30.
//
//   nodes: 16
//   ranks_per_node: 8
//   nics_per_node: 4
//   inside_gb_per_s: 160     # one rank inside its node, each direction
//   nic_gb_per_s: 24         # one NIC, each direction
//
// and, with defaults (those of ClusterFigures and PauseFigures):
//
//   inside_latency_us, nic_latency_us   until a message's first byte is there
//   message_us                          a message costs beside its bytes
//   group_us                            to start a group of operations
//   max_group_operations                sends and receives in one, at most 256
//   execution: grouped                  NCCL; or ordered: host transports
//   memory_gib                          of one rank, for job and transition
//   pause: {drain_ms, copy_gb_per_s, verify_gb_per_s, commit_ms}
#ifndef API_CLUSTER_FILE_CLUSTER_FILE_H_
#define API_CLUSTER_FILE_CLUSTER_FILE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transition/preview/pause.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::api {

struct ClusterFile {
  transition::ClusterModel model;
  transition::PauseFigures pause;
  transition::Execution execution = transition::Execution::kGrouped;
  int64_t rank_memory_bytes = 0;  // 0: unknown
};

// Returns kInvalidArgument with line and field, its value and what would do:
// "line 4: nic_gb_per_s: 0 is not a number in [0.001, 1e+06]".
absl::StatusOr<ClusterFile> LoadCluster(absl::string_view text);

}  // namespace dynatrain::api

#endif  // API_CLUSTER_FILE_CLUSTER_FILE_H_
