#include "transition/preview/preview.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/preview/placed_traffic.h"
#include "transition/preview/placed_transfer.h"

namespace dynatrain::transition {
namespace {

absl::Status CheckPlaces(const std::vector<int>& places, int num_processes,
                         const ClusterModel& cluster) {
  if (static_cast<int>(places.size()) != num_processes) {
    return absl::InvalidArgumentError(
        absl::StrCat("place_of_process: ", places.size(), " places for ",
                     num_processes, " processes; it has to be one each"));
  }
  std::vector<int> process_at(cluster.num_ranks(), -1);
  for (int i = 0; i < num_processes; ++i) {
    if (places[i] < 0 || places[i] >= cluster.num_ranks()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "place_of_process: process ", i, " is on rank ", places[i],
          " of the cluster, which has ranks 0 to ", cluster.num_ranks() - 1,
          " (", cluster.DebugString(), ")"));
    }
    int& process = process_at[places[i]];
    if (process >= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("place_of_process: processes ", process, " and ", i,
                       " are both on rank ", places[i], " of the cluster"));
    }
    process = i;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> PlacesOf(const PlanInput& input,
                                          const ClusterModel& cluster,
                                          const PreviewOptions& options) {
  std::vector<int> places = options.place_of_process;
  const int processes = input.num_processes();
  if (places.empty()) {
    if (processes > cluster.num_ranks()) {
      const int per_node = cluster.figures().ranks_per_node;
      return absl::InvalidArgumentError(absl::StrCat(
          "cluster: it has ", cluster.num_ranks(), " ranks (",
          cluster.DebugString(), "), the two worlds have ", processes,
          " processes; ", (processes + per_node - 1) / per_node,
          " nodes would do"));
    }
    places.resize(processes);
    std::iota(places.begin(), places.end(), 0);
  }
  RETURN_IF_ERROR(CheckPlaces(places, processes, cluster));
  return places;
}

// At what a rank gathers weights: inside its node if the target is on one.
int64_t GatherSpeed(const PlanInput& input, const std::vector<int>& places,
                    const ClusterModel& cluster) {
  const int per_node = cluster.figures().ranks_per_node;
  const auto node = [&](int rank) {
    return places[input.UnionIndexOfTarget(rank)] / per_node;
  };
  Lane lane = Lane::kInside;
  for (int rank = 1; rank < input.target().size(); ++rank) {
    if (node(rank) != node(0)) lane = Lane::kBetween;
  }
  return cluster.PortBytesPerSecond(lane);
}

PauseWork WorkOf(const PlannedBytes& bytes, int64_t transfer_ns,
                 int64_t gather_bytes_per_second) {
  PauseWork work = {.transfer_ns = transfer_ns,
                    .gather_bytes_per_second = gather_bytes_per_second};
  for (const ProcessBytes& process : bytes.processes) {
    work.gathered_bytes =
        std::max(work.gathered_bytes, process.sums.gathered_bytes);
    work.copied_bytes =
        std::max(work.copied_bytes, process.sums.copied_bytes());
    work.verified_bytes = std::max(
        work.verified_bytes, process.sent_bytes + process.sums.moved_bytes);
  }
  return work;
}

// With collectives, of a plan in one stage; none if none win.
absl::StatusOr<std::optional<TransferPlan>> TransferOf(
    const PlanInput& input, const ClusterModel& cluster,
    const std::vector<int>& places, const PreviewOptions& options,
    const std::optional<Staging>& staging) {
  std::optional<TransferPlan> transfer;
  if (!options.collectives.has_value()) return transfer;
  if (!staging.has_value()) {
    ASSIGN_OR_RETURN(transfer,
                     PlanPlacedTransfer(input, cluster, places,
                                        {.schedule = options.schedule,
                                         .collectives = *options.collectives}));
  } else if (staging->transfers.size() == 1) {
    transfer = staging->transfers.front();
  }
  if (transfer.has_value() && NumChosen(*transfer) == 0) transfer.reset();
  return transfer;
}

}  // namespace

absl::StatusOr<Preview> MakePreview(const PlanInput& input,
                                    const ClusterModel& cluster,
                                    const PreviewOptions& options) {
  if (input.source().empty()) {
    return absl::FailedPreconditionError(
        "the source world is empty: nothing moves into a job that starts");
  }
  RETURN_IF_ERROR(CheckPauseFigures(options.pause));
  ASSIGN_OR_RETURN(std::vector<int> places, PlacesOf(input, cluster, options));
  PlannedBytes bytes = ComputePlannedBytes(input);
  ASSIGN_OR_RETURN(Traffic traffic, PlacedTraffic(bytes.flows, places));
  ASSIGN_OR_RETURN(ScheduleChoice schedule,
                   ChooseSchedule(traffic, cluster, options.schedule));
  LinkLoads loads = ComputeLinkLoads(traffic, cluster);
  std::optional<Staging> staging;
  if (options.staging.has_value()) {
    ASSIGN_OR_RETURN(staging, StageOn(input, cluster, places, options.schedule,
                                      *options.staging, options.collectives));
  }
  ASSIGN_OR_RETURN(std::optional<TransferPlan> transfer,
                   TransferOf(input, cluster, places, options, staging));
  int64_t transfer_ns = schedule.ns;
  if (transfer.has_value()) transfer_ns = transfer->ns;
  if (staging.has_value()) transfer_ns = staging->transfer_ns;
  Cost pause =
      PauseOf(WorkOf(bytes, transfer_ns, GatherSpeed(input, places, cluster)),
              options.pause);
  return Preview{.cluster = cluster,
                 .source_size = input.source().size(),
                 .target_size = input.target().size(),
                 .num_staying = input.source().size() + input.target().size() -
                                input.num_processes(),
                 .place_of_process = std::move(places),
                 .bytes = std::move(bytes),
                 .traffic = std::move(traffic),
                 .loads = std::move(loads),
                 .schedule = std::move(schedule),
                 .execution = options.schedule.execution,
                 .slot_bytes = options.schedule.slot_bytes,
                 .staging = std::move(staging),
                 .transfer = std::move(transfer),
                 .transfer_ns = transfer_ns,
                 .pause = std::move(pause)};
}

}  // namespace dynatrain::transition
