#include "tools/cli/simulate_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/cli/text_table.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::cli {
namespace {

using simulate::Change;
using simulate::ChangeKind;
using simulate::PaperCase;
using simulate::RunResult;
using simulate::StrategyTime;
using simulate::SwitchTime;
using Align = TextTable::Align;

std::string WithoutTitles(std::string text) {
  return text.erase(0, text.find('\n') + 1);
}

// "1 d 02:03:04", "02:03:04".
std::string ClockText(int64_t ns) {
  const int64_t s = ns / 1'000'000'000;
  const std::string clock =
      absl::StrFormat("%02d:%02d:%02d", s / 3600 % 24, s / 60 % 60, s % 60);
  return s < 86400 ? clock : absl::StrCat(s / 86400, " d ", clock);
}

std::string RatioText(double ratio) {
  return absl::StrFormat(ratio < 9.95 ? "%.2fx" : "%.0fx", ratio);
}

std::string AssumptionsText(const simulate::Assumptions& assumptions) {
  TextTable table({{""}, {"", Align::kRight}, {""}});
  for (const simulate::Assumption& it : simulate::Listed(assumptions)) {
    table.Add({"  " + it.name, absl::StrFormat("%.10g", it.value), it.about});
  }
  return absl::StrCat("Assumptions (--assume name=value,...):\n",
                      WithoutTitles(table.Text()));
}

std::string SourcesText() {
  TextTable table({{""}, {""}});
  for (const std::unique_ptr<simulate::Strategy>& it :
       simulate::AllStrategies()) {
    table.Add({absl::StrCat("  ", it->name()), std::string(it->source())});
  }
  return absl::StrCat("Strategies, all under the same cost model:\n",
                      WithoutTitles(table.Text()));
}

std::string NodesText(const Change& change) {
  return absl::StrCat(change.nodes_before, " -> ", change.nodes_after);
}

std::string LayoutsText(const Change& change) {
  if (change.to.empty()) return change.from + " -> none";
  if (change.from.empty() || change.from == change.to) return change.to;
  return absl::StrCat(change.from, " -> ", change.to);
}

std::string PauseText(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kStop:
      return change.lost_steps > 0
                 ? absl::StrCat("stop, ", change.lost_steps, " lost")
                 : "stop";
    case ChangeKind::kRecover:
      return absl::StrCat(TimeText(change.pause_ns), ", ", change.lost_steps,
                          " lost");
    case ChangeKind::kStart:
    case ChangeKind::kSwitch:
      return TimeText(change.pause_ns);
  }
  return "";
}

// A row per event at which any strategy changed anything, told by ours.
std::string ChangesText(const std::vector<RunResult>& results) {
  std::vector<TextTable::Column> columns = {
      {"AT"}, {"NODES"}, {"LAYOUT (" + results.front().strategy + ")"}};
  std::map<int64_t, std::vector<std::string>> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    columns.push_back({results[i].strategy, Align::kRight});
    for (const Change& change : results[i].changes) {
      auto& row = rows[change.event_ns];
      if (row.empty()) {
        row = {ClockText(change.event_ns), NodesText(change),
               LayoutsText(change)};
        row.resize(3 + results.size(), "-");
      }
      row[3 + i] = PauseText(change);
    }
  }
  TextTable table(columns);
  for (const auto& [at, row] : rows) table.Add(row);
  return table.Text();
}

int64_t WorstPause(const RunResult& result) {
  int64_t worst = 0;
  for (const Change& change : result.changes) {
    if (change.kind == ChangeKind::kSwitch) {
      worst = std::max(worst, change.pause_ns);
    }
  }
  return worst;
}

std::string SummaryText(const std::vector<RunResult>& results) {
  TextTable table({{"STRATEGY"},
                   {"GOODPUT", Align::kRight},
                   {"TOKENS", Align::kRight},
                   {"PAUSED", Align::kRight},
                   {"WORST SWITCH", Align::kRight},
                   {"LOST STEPS", Align::kRight},
                   {"DOWN", Align::kRight},
                   {"MOVED", Align::kRight},
                   {"STORAGE", Align::kRight}});
  for (const RunResult& it : results) {
    table.Add({it.strategy, absl::StrFormat("%.3f %%", 100 * it.goodput()),
               absl::StrFormat("%.4g G", it.tokens / 1e9),
               TimeText(it.paused_ns), TimeText(WorstPause(it)),
               absl::StrCat(it.lost_steps), TimeText(it.down_ns),
               BytesText(it.moved_bytes), BytesText(it.stored_bytes)});
  }
  return table.Text();
}

std::string PaperText(const CaseResult& result) {
  const PaperCase& it = result.paper_case;
  const std::string& other = it.ratio > 0 ? it.baseline : "dynatrain";
  std::vector<std::string> nics, ours;
  double least = 0, most = 0;
  for (const CaseResult::Band& band : result.bands) {
    const double own =
        simulate::TimeOfStrategy(band.times, "dynatrain").ns() / 1e9;
    const double value =
        it.ratio > 0
            ? simulate::TimeOfStrategy(band.times, other).ns() / 1e9 / own
            : own;
    nics.push_back(absl::StrCat(band.nics));
    ours.push_back(it.ratio > 0 ? RatioText(value)
                                : absl::StrFormat("%.2f s", value));
    if (ours.size() == 1) least = most = value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const std::string said =
      absl::StrCat("paper ", it.paper, ", here ", absl::StrJoin(ours, " / "),
                   " with ", absl::StrJoin(nics, " / "), " NICs per node: ");
  if (it.ratio > 0 && least >= it.ratio) return said + "more than the paper";
  if (it.seconds > 0 && most <= it.seconds) {
    return said + "faster than the paper";
  }
  const bool some = it.ratio > 0 ? most >= it.ratio : least <= it.seconds;
  return absl::StrCat(said, it.ratio > 0 ? "LESS" : "SLOWER", " than the paper",
                      some ? " with some" : "", "\n  why: ", it.why);
}

std::string CaseText(const CaseResult& result) {
  const PaperCase& it = result.paper_case;
  std::vector<TextTable::Column> columns = {{"STRATEGY"},
                                            {"MOVED", Align::kRight}};
  for (const CaseResult::Band& band : result.bands) {
    columns.push_back(
        {absl::StrCat(band.nics, band.nics == 1 ? " NIC" : " NICS"),
         Align::kRight});
    columns.push_back({"", Align::kRight});
  }
  TextTable table(columns);
  for (size_t i = 0; i < result.bands.front().times.size(); ++i) {
    const StrategyTime& first = result.bands.front().times[i];
    std::vector<std::string> row = {first.strategy,
                                    BytesText(first.time.network_bytes)};
    for (const CaseResult::Band& band : result.bands) {
      const int64_t own = band.times.front().time.ns();
      const int64_t ns = band.times[i].time.ns();
      row.push_back(TimeText(ns));
      row.push_back(RatioText(static_cast<double>(ns) / own));
    }
    table.Add(row);
  }
  return absl::StrCat(it.name, ": ", it.model, ", ", it.title, "\n  ",
                      PaperText(result), "\n  assumed: ", it.assumed, "\n",
                      table.Text());
}

}  // namespace

std::string TraceText(const TraceRequest& request,
                      const std::vector<RunResult>& results) {
  TextTable head({{""}, {""}});
  head.Add({"job", request.model});
  head.Add({"trace", absl::StrCat(request.trace_name, ", ",
                                  request.trace.events().size(), " events in ",
                                  ClockText(results.front().end_ns))});
  head.Add({"cluster", absl::StrCat(request.cluster_name, ", ",
                                    request.cluster.model.DebugString())});
  head.Add({"layouts", request.layouts.empty()
                           ? "any that fits, the one with the shortest step"
                           : request.layouts});
  return absl::StrCat(WithoutTitles(head.Text()), "\n", ChangesText(results),
                      "\n", SummaryText(results), "\n",
                      AssumptionsText(request.assumptions), "\n",
                      SourcesText());
}

std::string CasesText(const CaseRequest& request,
                      const std::vector<CaseResult>& results) {
  std::string text = absl::StrCat("cluster ", request.cluster_name, ", ",
                                  request.cluster.model.DebugString(),
                                  "; other numbers of NICs likewise\n\n");
  for (const CaseResult& result : results) {
    absl::StrAppend(&text, CaseText(result), "\n");
  }
  return absl::StrCat(text, AssumptionsText(request.assumptions), "\n",
                      SourcesText());
}

}  // namespace dynatrain::cli
