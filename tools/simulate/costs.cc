#include "tools/simulate/costs.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/schedule/cost_model.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;
using transition::Lane;
using transition::Schedule;
using transition::Traffic;
using transition::TransferNs;

absl::Status CheckRate(const char* name, int64_t bytes_per_second) {
  constexpr int64_t kMin = 1'000'000, kMax = 1'000'000'000'000'000;
  if (bytes_per_second >= kMin && bytes_per_second <= kMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", bytes_per_second,
                   " bytes per second is not in [", kMin, ", ", kMax, "]"));
}

int64_t OneGroupNs(const Traffic& traffic, const ClusterModel& cluster) {
  int64_t ns = 0;
  for (const Lane lane : transition::kLanes) {
    const Traffic on_lane = transition::OnLane(traffic, cluster, lane);
    Schedule group;
    for (const transition::Flow& flow : on_lane.flows()) {
      group.parcels.push_back({flow.sender, flow.receiver, 0, flow.bytes});
    }
    if (group.parcels.empty()) continue;
    group.window_begins = {0};
    ns = std::max(ns, transition::GroupedNs(group, cluster, lane));
  }
  return ns;
}

absl::StatusOr<int64_t> NetworkNs(const Phase& phase,
                                  const ClusterModel& cluster,
                                  const SiteFigures& figures) {
  ASSIGN_OR_RETURN(const Traffic traffic,
                   Traffic::Create(cluster.num_ranks(), phase.flows));
  if (phase.one_group) return OneGroupNs(traffic, cluster);
  transition::ScheduleOptions options;
  options.execution = figures.execution;
  ASSIGN_OR_RETURN(const transition::ScheduleChoice choice,
                   transition::ChooseSchedule(traffic, cluster, options));
  return choice.ns;
}

}  // namespace

absl::Status CheckSiteFigures(const SiteFigures& figures) {
  RETURN_IF_ERROR(transition::CheckPauseFigures(figures.pause));
  RETURN_IF_ERROR(
      CheckRate("host_link_gb_per_s", figures.host_link_bytes_per_second));
  RETURN_IF_ERROR(
      CheckRate("storage_gb_per_s", figures.storage_bytes_per_second));
  return CheckRate("storage_node_gb_per_s",
                   figures.storage_node_bytes_per_second);
}

absl::StatusOr<PhaseTime> TimeOf(const Phase& phase,
                                 const ClusterModel& cluster,
                                 const SiteFigures& figures) {
  PhaseTime time = {.name = phase.name,
                    .resource = phase.resource,
                    .bytes = phase.busiest_bytes,
                    .needs_source = phase.needs_source};
  switch (phase.resource) {
    case Resource::kNetwork: {
      ASSIGN_OR_RETURN(time.ns, NetworkNs(phase, cluster, figures));
      time.bytes = 0;
      for (const transition::Flow& flow : phase.flows) time.bytes += flow.bytes;
      break;
    }
    case Resource::kDevice:
      time.ns =
          TransferNs(phase.busiest_bytes, figures.pause.copy_bytes_per_second);
      break;
    case Resource::kDigest:
      time.ns = TransferNs(phase.busiest_bytes,
                           figures.pause.verify_bytes_per_second);
      break;
    case Resource::kHostLink:
      time.ns =
          TransferNs(phase.busiest_bytes, figures.host_link_bytes_per_second);
      break;
    case Resource::kStorage:
      time.bytes = phase.total_bytes;
      time.ns = std::max(
          TransferNs(phase.total_bytes, figures.storage_bytes_per_second),
          TransferNs(phase.busiest_bytes,
                     figures.storage_node_bytes_per_second));
      break;
  }
  return time;
}

absl::StatusOr<SwitchTime> TimeOf(const Movement& movement,
                                  const ClusterModel& cluster,
                                  const SiteFigures& figures) {
  SwitchTime time = {.drain_ns = figures.pause.drain_ns,
                     .commit_ns = figures.pause.commit_ns,
                     .network_bytes = movement.network_bytes()};
  for (const Phase& phase : movement.phases) {
    ASSIGN_OR_RETURN(time.phases.emplace_back(),
                     TimeOf(phase, cluster, figures));
    if (phase.resource == Resource::kStorage) {
      time.storage_bytes += phase.total_bytes;
    }
  }
  return time;
}

}  // namespace dynatrain::simulate
