// Costs: how long phases take, by the same models for all strategies.
//
//   network    transition/schedule: the better of XOR windows and the list
//              schedule on the cluster's ports (ChooseSchedule); one group: all
//              ports at once, the busiest one decides (GroupedNs)
//   device     bytes of the busiest rank / the rate of copies or of digests
//   host link  bytes of the busiest rank / the rate of the link
//   storage    the longer of all bytes / the rate of the file system and bytes
//              of the busiest node / the node's rate
#ifndef TOOLS_SIMULATE_COSTS_H_
#define TOOLS_SIMULATE_COSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/simulate/movement.h"
#include "transition/preview/pause.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::simulate {

// What a cluster's model does not say.
struct SiteFigures {
  // Drain, copies, digests, commit.
  transition::PauseFigures pause;
  transition::Execution execution = transition::Execution::kGrouped;
  // Pinned memory over PCIe 4 x16.
  int64_t host_link_bytes_per_second = 25'000'000'000;
  // Assumptions: a parallel file system for a cluster of this size.
  int64_t storage_bytes_per_second = 40'000'000'000;
  int64_t storage_node_bytes_per_second = 5'000'000'000;

  friend bool operator==(const SiteFigures&, const SiteFigures&) = default;
};

// kInvalidArgument naming the figure, its value and its range.
absl::Status CheckSiteFigures(const SiteFigures& figures);

struct PhaseTime {
  std::string name;
  Resource resource = Resource::kNetwork;
  int64_t bytes = 0;  // network, storage: all; else of the busiest rank
  int64_t ns = 0;
  bool needs_source = true;
};

// Returns what Traffic::Create and ChooseSchedule return.
absl::StatusOr<PhaseTime> TimeOf(const Phase& phase,
                                 const transition::ClusterModel& cluster,
                                 const SiteFigures& figures);

// A switch while training stands still: drain, phases one after the other,
// commit.
struct SwitchTime {
  int64_t drain_ns = 0;
  std::vector<PhaseTime> phases;
  int64_t commit_ns = 0;
  int64_t network_bytes = 0;
  int64_t storage_bytes = 0;

  int64_t ns() const {
    int64_t sum = drain_ns + commit_ns;
    for (const PhaseTime& phase : phases) sum += phase.ns;
    return sum;
  }
  // Until the old ranks may go.
  int64_t source_ns() const {
    int64_t sum = drain_ns;
    for (const PhaseTime& phase : phases) {
      if (phase.needs_source) sum += phase.ns;
    }
    return sum;
  }
  // Without drain and commit, which are the same for all.
  int64_t movement_ns() const { return ns() - drain_ns - commit_ns; }
};

absl::StatusOr<SwitchTime> TimeOf(const Movement& movement,
                                  const transition::ClusterModel& cluster,
                                  const SiteFigures& figures);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_COSTS_H_
