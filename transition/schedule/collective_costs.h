// When a collective beats sends and receives, by arithmetic on the figures of
// the cluster. Each function compares the plain way (point to point, in one
// group) with the collective, and says which is less; equal costs go to the
// plain one.
//
// Symbols in the formulas: S bytes, B bandwidth of a port, m message_ns, l
// latency, g group_ns; index i inside a node, n between nodes.
//
// A collective is considered from 3 ranks and min_bytes on: below, joining its
// group costs what it could save.
#ifndef TRANSITION_SCHEDULE_COLLECTIVE_COSTS_H_
#define TRANSITION_SCHEDULE_COLLECTIVE_COSTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/cost.h"

namespace dynatrain::transition {

struct CollectiveOptions {
  int min_ranks = 3;
  int64_t min_bytes = int64_t{32} << 20;  // in all
  // Bounds of a slot of a pipeline; in between it is chosen, see PipelineSlot.
  int64_t min_slot_bytes = 64 << 10;
  int64_t max_slot_bytes = int64_t{32} << 20;

  friend bool operator==(const CollectiveOptions&,
                         const CollectiveOptions&) = default;
};

// kInvalidArgument naming the field that is out of range. All below that return
// a StatusOr ask this first.
absl::Status CheckCollectiveOptions(const CollectiveOptions& options);

// The slot that makes S bytes through a pipeline of `hops` fastest: time is
// S/B + (S/c) m + hops c/B, least at c = sqrt(S m B / hops). REQUIRES: valid
// options, hops >= 1.
int64_t PipelineSlot(int64_t bytes, int64_t bytes_per_second,
                     int64_t per_slot_ns, int hops,
                     const CollectiveOptions& options);

// The same S bytes from `root` to each target. Plain: the root sends all
// copies, S k/B. Broadcast: a pipelined chain with one copy per node over the
// network, first ranks of nodes passing it on, and a chain inside each node:
// S/B_n + fill. Returns kInvalidArgument if a rank is not of the cluster or
// there twice, as do those below.
absl::StatusOr<CostComparison> CompareBroadcast(
    const ClusterModel& cluster, int root, absl::Span<const int> targets,
    int64_t bytes, const CollectiveOptions& options = {});

// S bytes each, different ones, from `root` to each target. Plain: a message
// per target. Scatter: a message per node, handed out inside. Both send all
// bytes through the root's port; the collective saves messages and pays a
// second step.
absl::StatusOr<CostComparison> CompareScatter(
    const ClusterModel& cluster, int root, absl::Span<const int> targets,
    int64_t bytes, const CollectiveOptions& options = {});

// The inverse: S bytes from each source to `root`. Costs as CompareScatter,
// since ports are as fast in both directions.
absl::StatusOr<CostComparison> CompareGather(
    const ClusterModel& cluster, int root, absl::Span<const int> sources,
    int64_t bytes, const CollectiveOptions& options = {});

// S bytes between each two of the ranks of the first `nodes` nodes, both ways.
// Plain: a message per pair. All-to-all: first inside nodes, to the rank that
// has the local rank of the target, then between equal local ranks: n - 1 + R -
// 1 messages per rank instead of n R - 1, but all bytes pass NVLink too.
absl::StatusOr<CostComparison> CompareAllToAll(
    const ClusterModel& cluster, int nodes, int64_t bytes,
    const CollectiveOptions& options = {});

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_COLLECTIVE_COSTS_H_
