// Trace: how the nodes of a cluster come and go, as CSV:
//
//   time_s,event,nodes,notice_s
//   0,+,16,
//   3600,-,n3;n7,120      # these two will be gone two minutes later
//   7200,+,2,             # two that are not there, the lowest numbers first
//
// event   + nodes come, - nodes go
// nodes   a count, or names: n0 is the first node of the cluster. A count of
//         nodes that go takes the highest numbers.
// notice  how long before they go it is known; 0 or nothing: not at all
//
// A node that comes before its notice has run out stays; a count may choose it.
//
// Lines that are empty or begin with # are passed over, and so is what follows
// a # on a line.
#ifndef TOOLS_SIMULATE_TRACE_H_
#define TOOLS_SIMULATE_TRACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain::simulate {

struct TraceEvent {
  int64_t time_ns = 0;
  bool come = true;
  std::vector<int> nodes;  // ascending, never empty
  int64_t notice_ns = 0;   // of nodes that go
  int line = 0;            // of the text

  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};

class Trace {
 public:
  // Returns kInvalidArgument naming line, column, value and what would do: a
  // header that is another one, times that go back or exceed ten years, nodes
  // that the cluster does not have, that come though they are there or go
  // though they are not, or whose going is known already.
  static absl::StatusOr<Trace> Parse(absl::string_view csv, int num_nodes);

  // By time; no events at all if nothing ever happens.
  absl::Span<const TraceEvent> events() const { return events_; }

 private:
  explicit Trace(std::vector<TraceEvent> events);

  std::vector<TraceEvent> events_;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_TRACE_H_
