#include "tools/cli/plan_json.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "transition/plan/balance_senders.h"
#include "transition/plan/regenerate.h"
#include "transition/preview/placed_transfer.h"
#include "transition/preview/staging.h"
#include "transition/preview/whole_runs.h"
#include "transition/schedule/plan_runs.h"

namespace dynatrain::cli {
namespace {

using Json = nlohmann::ordered_json;
using transition::ByteSums;
using transition::CandidateCosts;
using transition::ClusterFigures;
using transition::CostTerm;
using transition::LaneChoice;
using transition::LowerBounds;
using transition::PortBytes;
using transition::PortLoad;
using transition::Preview;

// Of the format; raised when a field changes its meaning.
constexpr int kVersion = 1;

Json SideJson(const PlanSide& side, int ranks) {
  return {{"layout", side.text}, {"ranks", ranks}, {"nodes", side.nodes}};
}

Json ClusterJson(const PlanRequest& request) {
  const ClusterFigures& it = request.cluster.model.figures();
  return {{"name", request.cluster_name},
          {"nodes", it.num_nodes},
          {"ranks_per_node", it.ranks_per_node},
          {"nics_per_node", it.nics_per_node},
          {"inside_bytes_per_second", it.inside_bytes_per_second},
          {"nic_bytes_per_second", it.nic_bytes_per_second},
          {"inside_latency_ns", it.inside_latency_ns},
          {"nic_latency_ns", it.nic_latency_ns},
          {"message_ns", it.message_ns},
          {"group_ns", it.group_ns},
          {"max_group_operations", it.max_group_operations},
          {"rank_memory_bytes", request.cluster.rank_memory_bytes},
          {"digest", request.cluster.model.digest().Hex()}};
}

Json SumsJson(const ByteSums& sums) {
  return {{"source_bytes", sums.source_bytes},
          {"target_bytes", sums.target_bytes},
          {"kept_bytes", sums.kept_bytes},
          {"adopted_bytes", sums.adopted_bytes},
          {"copied_bytes", sums.copied_bytes()},
          {"moved_bytes", sums.moved_bytes},
          {"minimal_bytes", sums.minimal_bytes},
          {"zero_bytes", sums.zero_bytes},
          {"regenerated_bytes", sums.regenerated_bytes},
          {"gathered_bytes", sums.gathered_bytes}};
}

Json BytesJson(const Preview& preview) {
  Json states = Json::array();
  for (const transition::StateBytes& state : preview.bytes.states) {
    Json json = {{"state", state.state}, {"whole_bytes", state.whole_bytes}};
    json.update(SumsJson(state.sums));
    states.push_back(std::move(json));
  }
  return {{"total", SumsJson(preview.bytes.total)},
          {"states", std::move(states)}};
}

Json ProcessesJson(const Preview& preview) {
  Json list = Json::array();
  for (size_t i = 0; i < preview.bytes.processes.size(); ++i) {
    const transition::ProcessBytes& it = preview.bytes.processes[i];
    list.push_back({{"rank", preview.place_of_process[i]},
                    {"source_bytes", it.sums.source_bytes},
                    {"target_bytes", it.sums.target_bytes},
                    {"kept_bytes", it.sums.kept_bytes},
                    {"copied_bytes", it.sums.copied_bytes()},
                    {"sent_bytes", it.sent_bytes},
                    {"received_bytes", it.sums.moved_bytes}});
  }
  return {{"staying", preview.num_staying},
          {"joining", preview.num_joining()},
          {"leaving", preview.num_leaving()},
          {"list", std::move(list)}};
}

// Those with traffic.
Json PortsJson(const char* name, const std::vector<PortBytes>& ports) {
  Json list = Json::array();
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i] == PortBytes()) continue;
    list.push_back({{name, i},
                    {"out_bytes", ports[i].out_bytes},
                    {"in_bytes", ports[i].in_bytes}});
  }
  return list;
}

Json LinksJson(const Preview& preview) {
  return {{"inside_bytes", preview.loads.inside_bytes},
          {"between_bytes", preview.loads.between_bytes},
          {"inside", PortsJson("rank", preview.loads.inside)},
          {"nics", PortsJson("nic", preview.loads.nics)},
          {"nodes", PortsJson("node", preview.loads.nodes)}};
}

Json FlowsJson(const Preview& preview) {
  Json list = Json::array();
  for (const transition::Flow& flow : preview.traffic.flows()) {
    list.push_back({{"sender", flow.sender},
                    {"receiver", flow.receiver},
                    {"bytes", flow.bytes}});
  }
  return list;
}

Json BoundsJson(const LowerBounds& bounds) {
  const auto load = [](const char* port, const PortLoad& out,
                       const PortLoad& in) -> Json {
    const auto one = [&](const PortLoad& it) -> Json {
      return {{port, it.port}, {"bytes", it.bytes}};
    };
    return {{"out", one(out)}, {"in", one(in)}};
  };
  return {
      {"busiest_rank", load("rank", bounds.max_out, bounds.max_in)},
      {"busiest_inside",
       load("rank", bounds.max_inside_out, bounds.max_inside_in)},
      {"busiest_node", load("node", bounds.max_node_out, bounds.max_node_in)},
      {"busiest_nic", load("nic", bounds.max_nic_out, bounds.max_nic_in)},
      {"ideal_ns", bounds.ideal_ns},
      {"own_nic_ns", bounds.pinned_ns}};
}

Json LaneJson(const LaneChoice& lane) {
  Json candidates = Json::array();
  for (const CandidateCosts& it : lane.candidates) {
    candidates.push_back({{"kind", ScheduleKindName(it.kind)},
                          {"messages", it.num_parcels},
                          {"windows", it.num_windows},
                          {"ordered_bytes", it.ordered_bytes},
                          {"windowed_bytes", it.windowed_bytes},
                          {"ordered_ns", it.ordered_ns},
                          {"grouped_ns", it.grouped_ns}});
  }
  return {{"lane", LaneName(lane.lane)},
          {"bound_bytes", lane.bound_bytes},
          {"chosen", ScheduleKindName(lane.kind)},
          {"ns", lane.ns},
          {"candidates", std::move(candidates)}};
}

Json ScheduleJson(const PlanResult& result) {
  Json lanes = Json::array();
  for (const LaneChoice& lane : result.preview.schedule.lanes) {
    lanes.push_back(LaneJson(lane));
  }
  return {{"execution", result.grouped() ? "grouped" : "ordered"},
          {"lanes", std::move(lanes)},
          {"ns", result.preview.schedule.ns},
          {"digest", result.preview.schedule.Digest().Hex()}};
}

Json CollectivesJson(const transition::TransferPlan& plan) {
  Json list = Json::array();
  for (const transition::Collective& it : plan.collectives) {
    list.push_back({{"kind", CollectiveKindName(it.kind)},
                    {"ranks", it.ranks},
                    {"bytes", it.bytes},
                    {"chosen", it.chosen()},
                    {"ns", it.costs.best().ns()},
                    {"point_to_point_ns", it.costs.ways.front().ns()}});
  }
  return {{"ns", plan.ns},
          {"point_to_point_ns", plan.plain_ns},
          {"list", std::move(list)}};
}

Json PauseJson(const transition::Cost& pause) {
  Json parts = Json::array();
  for (const CostTerm& term : pause.terms) {
    // "copy (1 GB / 500 GB/s)": the name, then the arithmetic.
    parts.push_back({{"part", term.what.substr(0, term.what.find(' '))},
                     {"ns", term.ns},
                     {"what", term.what}});
  }
  return {{"ns", pause.ns()}, {"parts", std::move(parts)}};
}

Json StageJson(const transition::Staging& staging, size_t i) {
  const transition::TransferPlan& transfer = staging.transfers[i];
  Json stage = {{"moved_bytes", staging.moved_bytes[i]}, {"ns", transfer.ns}};
  if (transition::NumChosen(transfer) > 0) {
    stage["collectives"] = CollectivesJson(transfer);
  }
  return stage;
}

// The ways to keep room for what collectives pass on; none if there is one.
Json WaysJson(const transition::CostComparison& costs) {
  Json list = Json::array();
  for (size_t i = 0; i < costs.ways.size(); ++i) {
    list.push_back({{"way", costs.ways[i].name},
                    {"ns", costs.ways[i].ns()},
                    {"chosen", static_cast<int>(i) == costs.chosen}});
  }
  return list;
}

Json MemoryJson(const PlanResult& result) {
  const transition::Staging& staging = *result.preview.staging;
  const transition::StagePlan& plan = staging.plan;
  Json stages = Json::array();
  for (size_t i = 0; i < plan.stages.size(); ++i) {
    stages.push_back(StageJson(staging, i));
  }
  Json ranks = Json::array();
  for (size_t i = 0; i < plan.ranks.size(); ++i) {
    const transition::RankPeak& it = plan.ranks[i];
    ranks.push_back({{"rank", result.preview.place_of_process[i]},
                     {"source_bytes", it.source_bytes},
                     {"target_bytes", it.target_bytes},
                     {"adopted_bytes", it.adopted_bytes},
                     {"safe_bytes", it.safe_bytes},
                     {"peak_bytes", it.peak_bytes}});
  }
  return {{"mode", StageModeName(plan.mode)},
          {"limit_bytes", plan.options.limit_bytes},
          {"budget_bytes", plan.options.budget_bytes},
          {"peak_bytes", plan.PeakBytes()},
          {"smallest_limit_bytes", plan.smallest_limit_bytes},
          {"smallest_budget_bytes", plan.smallest_budget_bytes},
          {"limit_bound_bytes", plan.limit_bound_bytes},
          {"budget_bound_bytes", plan.budget_bound_bytes},
          {"proved_smallest", plan.proved_smallest()},
          {"ways", WaysJson(staging.costs)},
          {"stages", std::move(stages)},
          {"ranks", std::move(ranks)}};
}

Json WeightsJson(const PlanRequest& request) {
  Json kinds = Json::array();
  for (const transition::WeightChoice& it : request.weights.choices) {
    kinds.push_back({{"first", request.input.tensor(it.first_weight).Id()},
                     {"tensors", it.num_weights},
                     {"if_moved_bytes", it.moved_bytes},
                     {"if_gathered_bytes", it.gathered_bytes},
                     {"regenerated", it.regenerate}});
  }
  return {{"regenerated", request.weights.weights.size()},
          {"moved_otherwise_bytes", request.weights.moved_bytes},
          {"gathered_bytes", request.weights.gathered_bytes},
          {"kinds", std::move(kinds)}};
}

// By class, those that there are.
Json RunTableJson(const transition::RunTable& table) {
  Json json = Json::object();
  for (int i = 0; i < transition::kNumRunClasses; ++i) {
    const auto run_class = static_cast<transition::RunClass>(i);
    const transition::RunCounts& it = table[run_class];
    if (it.regions == 0) continue;
    json[std::string(RunClassName(run_class))] = {
        {"regions", it.regions},
        {"descriptors", it.descriptors},
        {"bytes", it.bytes},
        {"source_rows", it.source_rows},
        {"target_rows", it.target_rows}};
  }
  return json;
}

Json RunsJson(const transition::WholeRuns& runs, const Preview& preview) {
  Json pairs = Json::array();
  for (const transition::PairRuns& pair : runs.pairs) {
    pairs.push_back({{"from", preview.place_of_process[pair.sender]},
                     {"to", preview.place_of_process[pair.receiver]},
                     {"runs", RunTableJson(pair.runs)}});
  }
  return {{"moved", RunTableJson(runs.moved)},
          {"copied", RunTableJson(runs.copied)},
          {"pairs", std::move(pairs)}};
}

// What the heaviest sender sends; null if it was not worked out.
Json SendersJson(const transition::SenderBalance& balance) {
  if (!balance.known) return nullptr;
  return {{"balanced", balance.chosen_bytes != balance.even_bytes},
          {"heaviest_bytes", balance.chosen_bytes},
          {"equal_parts_bytes", balance.even_bytes},
          {"least_bytes", balance.bound_bytes}};
}

Json WarningsJson(const std::vector<transition::Warning>& warnings) {
  Json list = Json::array();
  for (const transition::Warning& it : warnings) {
    list.push_back({{"code", it.code}, {"text", it.text}});
  }
  return list;
}

Json CheckJson(const transition::Proof& proof) {
  Json violations = Json::array();
  for (const transition::Violation& it : proof.violations) {
    violations.push_back(it.DebugString());
  }
  return {{"holds", proof.holds()},
          {"programs", proof.num_programs},
          {"operations", proof.num_operations},
          {"regions", proof.num_moves},
          {"violations", std::move(violations)}};
}

}  // namespace

std::string PlanJson(const PlanResult& result) {
  const PlanRequest& request = result.request;
  const Preview& preview = result.preview;
  Json json = {
      {"version", kVersion},
      {"model", request.model},
      {"tensors", request.input.num_tensors()},
      {"from", SideJson(request.from, preview.source_size)},
      {"to", SideJson(request.to, preview.target_size)},
      {"cluster", ClusterJson(request)},
      {"agreement_digest", request.input.AgreementDigest().Hex()},
      {"bytes", BytesJson(preview)},
      {"processes", ProcessesJson(preview)},
      {"senders", SendersJson(request.balance)},
      {"links", LinksJson(preview)},
      {"flows", FlowsJson(preview)},
      {"bounds", BoundsJson(preview.schedule.bounds)},
      {"schedule", ScheduleJson(result)},
      {"transfer_ns", preview.transfer_ns},
      {"efficiency_ppm", preview.EfficiencyPpm()},
      {"pause", PauseJson(preview.pause)},
      {"warnings", WarningsJson(result.warnings)},
  };
  if (preview.staging.has_value()) json["memory"] = MemoryJson(result);
  if (preview.transfer.has_value()) {
    json["collectives"] = CollectivesJson(*preview.transfer);
  }
  if (!request.weights.choices.empty()) json["weights"] = WeightsJson(request);
  if (result.runs.has_value()) json["runs"] = RunsJson(*result.runs, preview);
  if (result.proof.has_value()) json["check"] = CheckJson(*result.proof);
  // Texts of a user may have bytes that are not UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dynatrain::cli
