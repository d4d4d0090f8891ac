#include "tools/cli/plan_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/ranges_text.h"
#include "tools/cli/text_table.h"
#include "transition/plan/balance_senders.h"
#include "transition/plan/regenerate.h"
#include "transition/preview/placed_transfer.h"
#include "transition/preview/staging.h"
#include "transition/preview/whole_runs.h"
#include "transition/schedule/plan_runs.h"

namespace dynatrain::cli {
namespace {

using transition::ByteSums;
using transition::CandidateCosts;
using transition::ClusterModel;
using transition::Cost;
using transition::CostTerm;
using transition::Lane;
using transition::LaneChoice;
using transition::LowerBounds;
using transition::PortLoad;
using transition::Preview;
using Align = TextTable::Align;

std::string SpeedText(int64_t bytes_per_second) {
  return absl::StrFormat("%.4g GB/s",
                         static_cast<double>(bytes_per_second) / 1e9);
}

// "0-3", or "0-3, in another order".
std::string NodesText(std::vector<int> nodes) {
  const bool ascending = std::is_sorted(nodes.begin(), nodes.end());
  std::sort(nodes.begin(), nodes.end());
  return absl::StrCat(RangesText(nodes), ascending ? "" : ", in another order");
}

std::string HeadText(const PlanRequest& request, const Preview& preview) {
  TextTable table({{""}, {""}, {""}});
  const auto side = [&](const char* what, const PlanSide& it, int size) {
    table.Add({what, it.text,
               absl::StrCat(Grouped(size), size == 1 ? " rank" : " ranks",
                            it.nodes.size() == 1 ? " on node " : " on nodes ",
                            NodesText(it.nodes))});
  };
  int64_t whole_bytes = 0;
  for (const auto& state : preview.bytes.states) {
    whole_bytes += state.whole_bytes;
  }
  table.Add({"job", request.model.empty() ? "-" : request.model,
             absl::StrCat(Grouped(request.input.num_tensors()), " tensors, ",
                          BytesText(whole_bytes))});
  side("from", request.from, preview.source_size);
  side("to", request.to, preview.target_size);
  table.Add({"cluster", request.cluster_name, preview.cluster.DebugString()});
  std::string text = table.Text();
  text.erase(0, text.find('\n') + 1);  // no titles
  return absl::StrCat(text, preview.num_staying, " processes stay, ",
                      preview.num_joining(), " join, ", preview.num_leaving(),
                      " leave", request.order.empty() ? "" : "; ",
                      request.order, "\n");
}

// With what is made anew if `regenerated`.
void AddSums(const std::string& name, int64_t whole_bytes, const ByteSums& sums,
             bool regenerated, TextTable& table) {
  std::vector<std::string> row = {name,
                                  BytesText(whole_bytes),
                                  BytesText(sums.target_bytes),
                                  BytesText(sums.adopted_bytes),
                                  BytesText(sums.copied_bytes()),
                                  BytesText(sums.moved_bytes),
                                  BytesText(sums.minimal_bytes),
                                  BytesText(sums.zero_bytes)};
  if (regenerated) {
    row.push_back(BytesText(sums.regenerated_bytes));
    row.push_back(BytesText(sums.gathered_bytes));
  }
  table.Add(std::move(row));
}

std::string BytesTable(const Preview& preview) {
  const bool regenerated = preview.bytes.total.regenerated_bytes > 0;
  std::vector<TextTable::Column> columns = {{"state"},
                                            {"whole", Align::kRight},
                                            {"on all ranks", Align::kRight},
                                            {"kept in place", Align::kRight},
                                            {"kept, copied", Align::kRight},
                                            {"moved", Align::kRight},
                                            {"minimal", Align::kRight},
                                            {"zero", Align::kRight}};
  if (regenerated) {
    columns.push_back({"made anew", Align::kRight});
    columns.push_back({"by gathering", Align::kRight});
  }
  TextTable table(std::move(columns));
  int64_t whole_bytes = 0;
  for (const auto& state : preview.bytes.states) {
    AddSums(state.state, state.whole_bytes, state.sums, regenerated, table);
    whole_bytes += state.whole_bytes;
  }
  if (preview.bytes.states.size() > 1) {
    AddSums("all", whole_bytes, preview.bytes.total, regenerated, table);
  }
  return table.Text();
}

// A row per kind of port: the busiest in each direction, and what it takes.
std::string LinkTable(const Preview& preview) {
  const ClusterModel& cluster = preview.cluster;
  const LowerBounds& bounds = preview.schedule.bounds;
  TextTable table({{"busiest"},
                   {"out", Align::kRight},
                   {"of"},
                   {"in", Align::kRight},
                   {"of"},
                   {"at", Align::kRight},
                   {"takes at least", Align::kRight}});
  const auto add = [&](const char* what, const char* port, const PortLoad& out,
                       const PortLoad& in, int64_t bytes_per_second) {
    const bool rate = bytes_per_second > 0;
    const auto of = [&](const PortLoad& load) {
      return load.bytes == 0 ? "-" : absl::StrCat(port, " ", load.port);
    };
    table.Add({what, BytesText(out.bytes), of(out), BytesText(in.bytes), of(in),
               rate ? SpeedText(bytes_per_second) : "",
               rate ? TimeText(transition::TransferNs(
                          std::max(out.bytes, in.bytes), bytes_per_second))
                    : ""});
  };
  add("rank, over all links", "rank", bounds.max_out, bounds.max_in, 0);
  add("rank, inside its node", "rank", bounds.max_inside_out,
      bounds.max_inside_in, cluster.PortBytesPerSecond(Lane::kInside));
  add("node, all its NICs", "node", bounds.max_node_out, bounds.max_node_in,
      cluster.NodeBytesPerSecond());
  add("NIC, each rank on its own", "NIC", bounds.max_nic_out, bounds.max_nic_in,
      cluster.PortBytesPerSecond(Lane::kBetween));
  return table.Text();
}

std::string ScheduleTable(const Preview& preview, bool grouped) {
  TextTable table({{"schedule"},
                   {"lane"},
                   {"messages", Align::kRight},
                   {"windows", Align::kRight},
                   {"x bound", Align::kRight},
                   {"cut", Align::kRight},
                   {"time", Align::kRight}});
  for (const LaneChoice& lane : preview.schedule.lanes) {
    if (lane.bound_bytes == 0) continue;
    const auto over_bound = [&](int64_t makespan_bytes) {
      return absl::StrFormat("%.3f", static_cast<double>(makespan_bytes) /
                                         static_cast<double>(lane.bound_bytes));
    };
    for (const CandidateCosts& it : lane.candidates) {
      table.Add({absl::StrCat(it.kind == lane.kind ? "* " : "  ",
                              ScheduleKindName(it.kind)),
                 LaneName(lane.lane), Grouped(it.num_parcels),
                 grouped ? Grouped(it.num_windows) : "-",
                 over_bound(it.ordered_bytes),
                 grouped ? over_bound(it.windowed_bytes) : "-",
                 TimeText(grouped ? it.grouped_ns : it.ordered_ns)});
    }
  }
  return table.Text();
}

// In how many of several stages, and what they and room for them save.
std::string StagedCollectivesText(const transition::Staging& staging) {
  const auto with_some = std::count_if(
      staging.transfers.begin(), staging.transfers.end(),
      [](const auto& it) { return transition::NumChosen(it) > 0; });
  if (staging.transfers.size() == 1 || with_some == 0) return "";
  std::string text =
      absl::StrCat("collectives in ", with_some, " stages: with them ",
                   TimeText(staging.transfer_ns), ", point to point ",
                   TimeText(staging.plain_ns), "\n");
  for (size_t i = 0; i < staging.costs.ways.size(); ++i) {
    const Cost& way = staging.costs.ways[i];
    absl::StrAppend(
        &text, static_cast<int>(i) == staging.costs.chosen ? "* " : "  ",
        way.name, ": ", way.terms.front().what, ", ", TimeText(way.ns()), "\n");
  }
  return text;
}

// What the rank with the highest peak needs, and in which stages.
std::string MemoryText(const transition::Staging& staging) {
  const transition::StagePlan& plan = staging.plan;
  const auto higher = [](const transition::RankPeak& a,
                         const transition::RankPeak& b) {
    return a.peak_bytes < b.peak_bytes;
  };
  const transition::RankPeak peak =
      *std::max_element(plan.ranks.begin(), plan.ranks.end(), higher);
  const auto gib = [](int64_t bytes) {
    return absl::StrFormat(
        "%.4g GiB", static_cast<double>(bytes) / static_cast<double>(1 << 30));
  };
  std::string text = absl::StrCat(
      "memory  ", gib(peak.peak_bytes), " at most on a rank (old state ",
      gib(peak.source_bytes), ", new ", gib(peak.target_bytes), "), ",
      StageModeName(plan.mode), " mode, ", Grouped(plan.stages.size()),
      plan.stages.size() == 1 ? " stage" : " stages");
  if (plan.options.limit_bytes > 0) {
    absl::StrAppend(&text, ", of ", gib(plan.options.limit_bytes));
  }
  absl::StrAppend(&text, "; tight mode needs ", gib(plan.smallest_limit_bytes));
  // Less than a hundredth is what cutting costs.
  if (plan.limit_bound_bytes <
      plan.smallest_limit_bytes - plan.smallest_limit_bytes / 100) {
    absl::StrAppend(&text, ", no order less than ",
                    gib(plan.limit_bound_bytes));
  }
  return absl::StrCat(text, "\n", StagedCollectivesText(staging));
}

std::string PauseText(const Cost& pause) {
  TextTable table({{""}, {"", Align::kRight}, {""}});
  for (const CostTerm& term : pause.terms) {
    // "copy (1.2 GB / 500.0 GB/s)" in two columns.
    const size_t cut = std::min(term.what.find(" ("), term.what.size());
    table.Add({absl::StrCat("  ", term.what.substr(0, cut)), TimeText(term.ns),
               term.what.substr(std::min(cut + 1, term.what.size()))});
  }
  table.Add({"= pause", TimeText(pause.ns()), ""});
  std::string text = table.Text();
  text.erase(0, text.find('\n') + 1);
  return text;
}

// Those that are used, of each kind in one line.
std::string CollectivesText(const transition::TransferPlan& plan) {
  std::map<transition::CollectiveKind, std::pair<int, int64_t>> chosen;
  for (const transition::Collective& it : plan.collectives) {
    if (!it.chosen()) continue;
    ++chosen[it.kind].first;
    chosen[it.kind].second += it.bytes;
  }
  std::string text;
  for (const auto& [kind, sum] : chosen) {
    absl::StrAppend(&text, "collectives: ", sum.first, " x ",
                    CollectiveKindName(kind), ", ", BytesText(sum.second),
                    "\n");
  }
  return absl::StrCat(text, "with them ", TimeText(plan.ns),
                      ", point to point ", TimeText(plan.plain_ns), "\n");
}

// Kinds of weights, and what moving or gathering them takes.
std::string WeightsText(const PlanRequest& request) {
  const transition::Regeneration& weights = request.weights;
  if (weights.choices.empty()) return "";
  TextTable table({{"weights"},
                   {"tensors", Align::kRight},
                   {"if moved", Align::kRight},
                   {"if gathered", Align::kRight},
                   {"they are"}});
  for (const transition::WeightChoice& it : weights.choices) {
    table.Add({absl::StrCat(request.input.tensor(it.first_weight).name(),
                            it.num_weights > 1 ? ", ..." : ""),
               Grouped(it.num_weights), BytesText(it.moved_bytes),
               BytesText(it.gathered_bytes),
               it.regenerate ? "cast and gathered" : "moved"});
  }
  return absl::StrCat(table.Text(),
                      "cast and gathered: ", Grouped(weights.weights.size()),
                      " weights, ", BytesText(weights.gathered_bytes),
                      " in the place of ", BytesText(weights.moved_bytes),
                      "; exact only if the job rounds to nearest\n\n");
}

std::string RunsText(const transition::WholeRuns& runs) {
  TextTable table({{"in memory"},
                   {"regions", Align::kRight},
                   {"descriptors", Align::kRight},
                   {"bytes", Align::kRight},
                   {"rows read", Align::kRight},
                   {"rows written", Align::kRight}});
  const auto add = [&](const std::string& name,
                       const transition::RunCounts& it) {
    if (it.regions == 0) return;
    table.Add({name, Grouped(it.regions), Grouped(it.descriptors),
               BytesText(it.bytes), Grouped(it.source_rows),
               Grouped(it.target_rows)});
  };
  for (int i = 0; i < transition::kNumRunClasses; ++i) {
    const auto run_class = static_cast<transition::RunClass>(i);
    add(absl::StrCat("moved, ", RunClassName(run_class)),
        runs.moved[run_class]);
  }
  for (int i = 0; i < transition::kNumRunClasses; ++i) {
    const auto run_class = static_cast<transition::RunClass>(i);
    add(absl::StrCat("copied, ", RunClassName(run_class)),
        runs.copied[run_class]);
  }
  return absl::StrCat(table.Text(), Grouped(runs.pairs.size()),
                      " pairs of ranks, ",
                      Grouped(runs.max_descriptors_of_a_pair()),
                      " descriptors at most for one\n\n");
}

// If equal parts were not even enough.
std::string BalanceText(const transition::SenderBalance& balance) {
  if (balance.chosen_bytes == balance.even_bytes) return "";
  return absl::StrCat(
      "senders balanced: the heaviest sends ", BytesText(balance.chosen_bytes),
      ", with equal parts ", BytesText(balance.even_bytes),
      "; the least there is: ", BytesText(balance.bound_bytes), "\n");
}

std::string TransferText(const Preview& preview) {
  const LowerBounds& bounds = preview.schedule.bounds;
  const bool staged_collectives =
      preview.staging.has_value() &&
      preview.staging->transfer_ns < preview.staging->plain_ns;
  if (preview.transfer.has_value() || staged_collectives) {
    return absl::StrCat("transfer ", TimeText(preview.transfer_ns),
                        "; sending each rank its own bytes takes ",
                        TimeText(bounds.ideal_ns), " at least\n");
  }
  std::string text = absl::StrFormat(
      "transfer %s; ideal %s if any rank could use any NIC of its node (%.1f "
      "%%), %s with each on its own\n",
      TimeText(preview.transfer_ns), TimeText(bounds.ideal_ns),
      static_cast<double>(preview.EfficiencyPpm()) / 1e4,
      TimeText(bounds.pinned_ns));
  return text;
}

std::string WarningsText(const std::vector<transition::Warning>& warnings) {
  std::string text;
  for (const transition::Warning& it : warnings) {
    absl::StrAppend(&text, "warning: ", it.text, " (", it.code, ")\n");
  }
  return text.empty() ? "" : absl::StrCat("\n", text);
}

std::string ProofText(const transition::Proof& proof, bool regenerated) {
  const std::string what =
      absl::StrCat(Grouped(proof.num_programs), " programs of ",
                   Grouped(proof.num_operations), " operations on ",
                   Grouped(proof.num_moves), " regions");
  if (proof.holds()) {
    return absl::StrCat(
        "\nchecked: ", what,
        ". Every send meets its receive, nobody waits for ever (rendezvous, "
        "credits of 1 and 4, groups),\n"
        "each element of the new layout",
        regenerated ? " but of weights that are made anew" : "",
        " is written once, nothing is read that isn't there.\n");
  }
  std::string text = absl::StrCat("\nREFUSED by the check of ", what, ":\n");
  for (const transition::Violation& it : proof.violations) {
    absl::StrAppend(&text, "  ", it.DebugString(), "\n");
  }
  return text;
}

}  // namespace

std::string PlanText(const PlanResult& result) {
  const Preview& preview = result.preview;
  std::string text =
      absl::StrCat(HeadText(result.request, preview), "\n", BytesTable(preview),
                   "\n", WeightsText(result.request));
  if (preview.traffic.total_bytes() == 0) {
    absl::StrAppend(&text, "Nothing moves between ranks.\n\n");
  } else {
    absl::StrAppend(
        &text, LinkTable(preview), BalanceText(result.request.balance), "\n",
        ScheduleTable(preview, result.grouped()),
        preview.transfer.has_value() ? CollectivesText(*preview.transfer) : "",
        TransferText(preview), "\n");
  }
  if (result.runs.has_value()) absl::StrAppend(&text, RunsText(*result.runs));
  if (preview.staging.has_value()) {
    absl::StrAppend(&text, MemoryText(*preview.staging), "\n");
  }
  absl::StrAppend(&text, PauseText(preview.pause),
                  WarningsText(result.warnings));
  if (result.proof.has_value()) {
    absl::StrAppend(
        &text,
        ProofText(*result.proof, preview.bytes.total.regenerated_bytes > 0));
  }
  return text;
}

}  // namespace dynatrain::cli
