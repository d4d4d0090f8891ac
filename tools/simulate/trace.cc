#include "tools/simulate/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain::simulate {
namespace {

constexpr char kHeader[] = "time_s,event,nodes,notice_s";
constexpr int kColumns = 4;
constexpr double kMaxSeconds = 10 * 365 * 86400.0;

using Row = std::array<absl::string_view, kColumns>;

absl::Status Wrong(int line, absl::string_view column, absl::string_view value,
                   absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ": ", column, ": \"",
                   absl::CHexEscape(value.substr(0, 64)), "\" ", what));
}

absl::StatusOr<int64_t> ParseSeconds(int line, absl::string_view column,
                                     absl::string_view text) {
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds) || !(seconds >= 0) ||
      !(seconds <= kMaxSeconds)) {
    return Wrong(line, column, text,
                 "is no number of seconds from 0 to ten years");
  }
  return std::llround(seconds * 1e9);
}

// What the cluster's nodes do while a trace is read.
class Reader {
 public:
  explicit Reader(int num_nodes) : there_(num_nodes, false) {}

  absl::StatusOr<TraceEvent> Read(int line, const Row& row) {
    TraceEvent event = {.line = line};
    ASSIGN_OR_RETURN(event.time_ns, ParseSeconds(line, "time_s", row[0]));
    if (event.time_ns < last_ns_) {
      return Wrong(line, "time_s", row[0],
                   "is before the line above; lines are in order of time");
    }
    last_ns_ = event.time_ns;
    if (row[1] != "+" && row[1] != "-") {
      return Wrong(line, "event", row[1],
                   "is neither + (nodes come) nor - (nodes go)");
    }
    event.come = row[1] == "+";
    ASSIGN_OR_RETURN(event.nodes, ParseNodes(line, row[2], event.come));
    if (!row[3].empty()) {
      ASSIGN_OR_RETURN(event.notice_ns, ParseSeconds(line, "notice_s", row[3]));
    }
    if (event.come && event.notice_ns > 0) {
      return Wrong(line, "notice_s", row[3],
                   "is for nodes that go; nodes that come have none");
    }
    for (int node : event.nodes) there_[node] = event.come;
    return event;
  }

 private:
  int num_nodes() const { return static_cast<int>(there_.size()); }

  absl::StatusOr<std::vector<int>> ParseNodes(int line, absl::string_view text,
                                              bool come) const {
    if (!absl::StartsWith(text, "n")) return CountedNodes(line, text, come);
    std::vector<int> nodes;
    for (absl::string_view name : absl::StrSplit(text, ';')) {
      int node = -1;
      if (!absl::ConsumePrefix(&name, "n") || !absl::SimpleAtoi(name, &node) ||
          node < 0 || node >= num_nodes()) {
        return Wrong(line, "nodes", text,
                     absl::StrCat("names no nodes of the cluster; they are n0 "
                                  "to n",
                                  num_nodes() - 1));
      }
      if (there_[node] == come ||
          std::count(nodes.begin(), nodes.end(), node)) {
        return Wrong(line, "nodes", text,
                     absl::StrCat("n", node,
                                  come ? " is there already"
                                       : " is not there or goes already"));
      }
      nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  absl::StatusOr<std::vector<int>> CountedNodes(int line,
                                                absl::string_view text,
                                                bool come) const {
    const int free =
        static_cast<int>(std::count(there_.begin(), there_.end(), !come));
    int count = 0;
    if (!absl::SimpleAtoi(text, &count) || count < 1 || count > free) {
      return Wrong(
          line, "nodes", text,
          free == 0
              ? absl::StrCat("can't ", come ? "come" : "go", ": ",
                             come ? "all nodes are" : "no node is", " there")
              : absl::StrCat("is neither a count in [1, ", free,
                             "] nor names like n0;n3"));
    }
    std::vector<int> nodes;
    for (int i = 0; i < num_nodes() && count > 0; ++i) {
      const int node = come ? i : num_nodes() - 1 - i;
      if (there_[node] == come) continue;
      nodes.push_back(node);
      --count;
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  std::vector<bool> there_;
  int64_t last_ns_ = 0;
};

absl::StatusOr<Row> SplitRow(int line, absl::string_view text) {
  const std::vector<absl::string_view> cells = absl::StrSplit(text, ',');
  if (cells.size() != kColumns && cells.size() != kColumns - 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "line ", line, ": ", cells.size(), " columns; they are ", kHeader));
  }
  Row row;
  for (size_t i = 0; i < cells.size(); ++i) {
    row[i] = absl::StripAsciiWhitespace(cells[i]);
  }
  return row;
}

}  // namespace

Trace::Trace(std::vector<TraceEvent> events) : events_(std::move(events)) {}

absl::StatusOr<Trace> Trace::Parse(absl::string_view csv, int num_nodes) {
  Reader reader(num_nodes);
  std::vector<TraceEvent> events;
  bool header = false;
  int line = 0;
  for (absl::string_view text : absl::StrSplit(csv, '\n')) {
    ++line;
    text = absl::StripAsciiWhitespace(text.substr(0, text.find('#')));
    if (text.empty()) continue;
    if (!header) {
      header = true;
      if (text == kHeader) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", line, ": \"", absl::CHexEscape(text.substr(0, 64)),
          "\" is not the header ", kHeader));
    }
    ASSIGN_OR_RETURN(const Row row, SplitRow(line, text));
    ASSIGN_OR_RETURN(events.emplace_back(), reader.Read(line, row));
  }
  if (!header) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is nothing in it; the first line is ", kHeader));
  }
  return Trace(std::move(events));
}

}  // namespace dynatrain::simulate
