#include "transition/schedule/choose_schedule.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "transition/schedule/check_range.h"
#include "transition/schedule/cost_model.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/port_model.h"
#include "transition/schedule/xor_windows.h"

namespace dynatrain::transition {
namespace {

struct Candidate {
  CandidateCosts costs;
  Schedule order;
  Schedule windows;
};

class Chooser {
 public:
  Chooser(const Traffic& traffic, const ClusterModel& cluster, Lane lane,
          const ScheduleOptions& options)
      : traffic_(OnLane(traffic, cluster, lane)),
        cluster_(cluster),
        lane_(lane),
        ports_(cluster.Ports(lane)),
        options_(options) {}

  LaneChoice Choose() const {
    LaneChoice choice = {.lane = lane_,
                         .bound_bytes = PortBound(traffic_, ports_)};
    std::vector<Candidate> candidates;
    candidates.push_back(Xor());
    const bool list = traffic_.num_ranks() <= options_.max_list_ranks &&
                      static_cast<int64_t>(traffic_.flows().size()) <=
                          options_.max_list_flows;
    if (list) candidates.push_back(List());
    Candidate* best = &candidates.front();
    if (list &&
        Better(candidates[1].costs, candidates[0].costs, choice.bound_bytes)) {
      best = &candidates[1];
    }
    for (const Candidate& it : candidates)
      choice.candidates.push_back(it.costs);
    choice.kind = best->costs.kind;
    choice.ns = TimeOf(best->costs);
    choice.schedule = options_.execution == Execution::kGrouped
                          ? std::move(best->windows)
                          : std::move(best->order);
    return choice;
  }

 private:
  int64_t TimeOf(const CandidateCosts& costs) const {
    return options_.execution == Execution::kGrouped ? costs.grouped_ns
                                                     : costs.ordered_ns;
  }

  bool Better(const CandidateCosts& list, const CandidateCosts& xor_costs,
              int64_t bound_bytes) const {
    // Sums of bytes are below 2^52, so products fit.
    if (xor_costs.ordered_bytes * 1000 > bound_bytes * kMaxXorRatioPermille) {
      return true;
    }
    return TimeOf(list) < TimeOf(xor_costs);
  }

  Candidate Xor() const {
    const int block = cluster_.figures().ranks_per_node;
    const int64_t unit = options_.list.unit_bytes;
    // Each rank of a port sends to a whole block in a window. Cuts are at whole
    // units.
    const int64_t ranks_per_port =
        (ports_.num_ranks() + ports_.num_ports - 1) / ports_.num_ports;
    const int64_t pair_bytes =
        options_.max_window_bytes / (PaddedBlock(block) * ranks_per_port);
    Candidate xor_candidate = {
        .order = XorOrder(traffic_, block),
        .windows = XorSchedule(
            traffic_,
            {.block_ranks = block,
             .max_operations = cluster_.figures().max_group_operations,
             .max_pair_bytes =
                 std::max(pair_bytes / unit, int64_t{1}) * unit})};
    Measure(ScheduleKind::kXor, xor_candidate);
    return xor_candidate;
  }

  Candidate List() const {
    const ListSchedule list = MakeListSchedule(traffic_, ports_, options_.list);
    Candidate candidate = {
        .order = OrderOf(list),
        .windows = CutIntoWindows(
            list, {.max_operations = cluster_.figures().max_group_operations,
                   .max_port_bytes = options_.max_window_bytes})};
    Measure(ScheduleKind::kList, candidate);
    return candidate;
  }

  void Measure(ScheduleKind kind, Candidate& candidate) const {
    candidate.costs = {
        .kind = kind,
        .num_parcels = static_cast<int64_t>(candidate.order.parcels.size()),
        .num_windows = candidate.windows.num_windows(),
        .ordered_bytes = OrderedMakespan(candidate.order, ports_),
        .windowed_bytes = WindowedMakespan(candidate.windows, ports_),
        .ordered_ns =
            OrderedNs(candidate.order, cluster_, lane_, options_.slot_bytes),
        .grouped_ns = GroupedNs(candidate.windows, cluster_, lane_)};
  }

  const Traffic traffic_;
  const ClusterModel& cluster_;
  const Lane lane_;
  const PortMap ports_;
  const ScheduleOptions& options_;
};

absl::Status CheckOptions(const ScheduleOptions& options) {
  const auto check = [](const char* field, int64_t value, int64_t min,
                        int64_t max) {
    return CheckRange("schedule", field, value, min, max);
  };
  RETURN_IF_ERROR(
      check("list.slack_ppm", options.list.slack_ppm, 0, 1'000'000));
  RETURN_IF_ERROR(
      check("list.unit_bytes", options.list.unit_bytes, 1, int64_t{1} << 30));
  RETURN_IF_ERROR(
      check("slot_bytes", options.slot_bytes, kMinSlotBytes, kMaxTrafficBytes));
  RETURN_IF_ERROR(check("max_window_bytes", options.max_window_bytes,
                        options.list.unit_bytes, kMaxTrafficBytes));
  RETURN_IF_ERROR(check("max_list_ranks", options.max_list_ranks, 0, 1 << 16));
  return check("max_list_flows", options.max_list_flows, 0, int64_t{1} << 30);
}

std::string Ratio(int64_t makespan, int64_t bound) {
  if (bound == 0) return "-";
  return absl::StrFormat(
      "%.3f", static_cast<double>(makespan) / static_cast<double>(bound));
}

}  // namespace

const char* ScheduleKindName(ScheduleKind kind) {
  return kind == ScheduleKind::kXor ? "xor" : "list";
}

absl::StatusOr<ScheduleChoice> ChooseSchedule(const Traffic& traffic,
                                              const ClusterModel& cluster,
                                              const ScheduleOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (traffic.num_ranks() > cluster.num_ranks()) {
    return absl::InvalidArgumentError(
        absl::StrCat("schedule: the traffic is among ", traffic.num_ranks(),
                     " ranks, the cluster has ", cluster.num_ranks(), " (",
                     cluster.DebugString(), ")"));
  }
  ScheduleChoice choice;
  choice.bounds = ComputeLowerBounds(traffic, cluster);
  for (const Lane lane : kLanes) {
    choice.lanes.push_back(Chooser(traffic, cluster, lane, options).Choose());
    choice.ns = std::max(choice.ns, choice.lanes.back().ns);
  }
  return choice;
}

Fingerprint ScheduleOptions::Digest() const {
  Fingerprinter digest;
  digest.Append("schedule options")
      .Append(static_cast<int>(execution))
      .Append(list.slack_ppm)
      .Append(list.unit_bytes)
      .Append(slot_bytes)
      .Append(max_window_bytes)
      .Append(max_list_ranks)
      .Append(max_list_flows);
  return digest.Finish();
}

Fingerprint ScheduleChoice::Digest() const {
  Fingerprinter digest;
  digest.Append("schedule choice");
  for (const LaneChoice& lane : lanes) {
    digest.Append(static_cast<int>(lane.kind)).Append(lane.schedule.Digest());
  }
  return digest.Finish();
}

std::string ScheduleChoice::DebugString() const {
  std::string text = bounds.DebugString();
  absl::StrAppend(&text,
                  "lane     schedule   parcels windows  ordered/bound "
                  "windowed/bound   ordered ms   grouped ms\n");
  for (const LaneChoice& lane : lanes) {
    for (const CandidateCosts& it : lane.candidates) {
      absl::StrAppendFormat(
          &text, "%-8s %s %-6s %9d %7d  %13s %14s %12.3f %12.3f\n",
          LaneName(lane.lane), it.kind == lane.kind ? "*" : " ",
          ScheduleKindName(it.kind), it.num_parcels, it.num_windows,
          Ratio(it.ordered_bytes, lane.bound_bytes),
          Ratio(it.windowed_bytes, lane.bound_bytes), it.ordered_ns / 1e6,
          it.grouped_ns / 1e6);
    }
  }
  absl::StrAppendFormat(&text, "time %.3f ms, efficiency %.1f %%\n", ns / 1e6,
                        bounds.EfficiencyPpm(ns) / 1e4);
  return text;
}

}  // namespace dynatrain::transition
