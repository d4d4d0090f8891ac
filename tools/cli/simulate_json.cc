#include "tools/cli/simulate_json.h"

#include "nlohmann/json.hpp"

namespace dynatrain::cli {
namespace {

using simulate::Change;
using simulate::RunResult;
using simulate::StrategyTime;
using simulate::SwitchTime;
using Json = nlohmann::ordered_json;

Json AssumptionsOf(const simulate::Assumptions& assumptions) {
  Json json = Json::object();
  for (const simulate::Assumption& it : simulate::Listed(assumptions)) {
    json[it.name] = it.value;
  }
  return json;
}

Json TimeJson(const SwitchTime& time) {
  Json phases = Json::array();
  for (const simulate::PhaseTime& it : time.phases) {
    phases.push_back({{"name", it.name},
                      {"resource", simulate::ResourceName(it.resource)},
                      {"bytes", it.bytes},
                      {"ns", it.ns}});
  }
  return {{"drain_ns", time.drain_ns},
          {"phases", phases},
          {"commit_ns", time.commit_ns},
          {"total_ns", time.ns()},
          {"network_bytes", time.network_bytes},
          {"storage_bytes", time.storage_bytes}};
}

Json ChangeJson(const Change& it) {
  return {{"kind", simulate::ChangeKindName(it.kind)},
          {"event_ns", it.event_ns},
          {"begin_ns", it.begin_ns},
          {"pause_ns", it.pause_ns},
          {"waited_ns", it.waited_ns},
          {"nodes_before", it.nodes_before},
          {"nodes_after", it.nodes_after},
          {"from", it.from},
          {"to", it.to},
          {"lost_steps", it.lost_steps},
          {"time", TimeJson(it.time)}};
}

Json RunJson(const RunResult& it) {
  Json changes = Json::array();
  for (const Change& change : it.changes) changes.push_back(ChangeJson(change));
  return {{"strategy", it.strategy},
          {"goodput", it.goodput()},
          {"tokens", it.tokens},
          {"ideal_tokens", it.ideal_tokens},
          {"steps", it.steps},
          {"lost_steps", it.lost_steps},
          {"paused_ns", it.paused_ns},
          {"down_ns", it.down_ns},
          {"moved_bytes", it.moved_bytes},
          {"stored_bytes", it.stored_bytes},
          {"changes", changes}};
}

std::string Text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string TraceJson(const TraceRequest& request,
                      const std::vector<RunResult>& results) {
  Json runs = Json::array();
  for (const RunResult& it : results) runs.push_back(RunJson(it));
  return Text({{"model", request.model},
               {"trace", request.trace_name},
               {"cluster", request.cluster_name},
               {"layouts", request.layouts},
               {"end_ns", results.front().end_ns},
               {"assumptions", AssumptionsOf(request.assumptions)},
               {"runs", runs}});
}

std::string CasesJson(const CaseRequest& request,
                      const std::vector<CaseResult>& results) {
  Json cases = Json::array();
  for (const CaseResult& result : results) {
    Json bands = Json::array();
    for (const CaseResult::Band& band : result.bands) {
      Json times = Json::array();
      for (const StrategyTime& it : band.times) {
        times.push_back({{"strategy", it.strategy},
                         {"source", it.source},
                         {"time", TimeJson(it.time)}});
      }
      bands.push_back({{"nics_per_node", band.nics}, {"strategies", times}});
    }
    const simulate::PaperCase& it = result.paper_case;
    cases.push_back({{"case", it.name},
                     {"title", it.title},
                     {"assumed", it.assumed},
                     {"model", it.model},
                     {"paper", it.paper},
                     {"bands", bands}});
  }
  return Text({{"cluster", request.cluster_name},
               {"assumptions", AssumptionsOf(request.assumptions)},
               {"cases", cases}});
}

}  // namespace dynatrain::cli
