// NodeSet: which nodes are there, which of them will go and when, and in which
// order a job uses them.
#ifndef TOOLS_SIMULATE_NODE_SET_H_
#define TOOLS_SIMULATE_NODE_SET_H_

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "tools/simulate/trace.h"

namespace dynatrain::simulate {

class NodeSet {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  void Apply(const TraceEvent& event) {
    for (int node : event.nodes) {
      goes_ns_[node] = event.come ? kNever : event.time_ns + event.notice_ns;
    }
  }

  // The nodes that stay for all that is known, those of `running` first and in
  // their order, then others, ascending; at most `most`.
  std::vector<int> Staying(const std::vector<int>& running, int most) const;
  int NumStaying() const;
  // The nodes that are there at `now_ns`, whether or not they will go.
  int NumThere(int64_t now_ns) const;
  // When the first of `nodes` goes.
  int64_t FirstGoes(const std::vector<int>& nodes) const;
  // When the next node goes after `now_ns`.
  int64_t NextGoes(int64_t now_ns) const;

 private:
  std::map<int, int64_t> goes_ns_;  // of all nodes that ever came
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_NODE_SET_H_
