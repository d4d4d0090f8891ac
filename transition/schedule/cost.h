// Cost: a time with the arithmetic that gives it, so that a plan can print why.
//
//   chain: 21.475 ms bytes / 50.0 GB/s + 0.252 ms 3 hops x one slot = 21.727 ms
#ifndef TRANSITION_SCHEDULE_COST_H_
#define TRANSITION_SCHEDULE_COST_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace dynatrain::transition {

struct CostTerm {
  std::string what;
  int64_t ns = 0;
  friend bool operator==(const CostTerm&, const CostTerm&) = default;
};

struct Cost {
  std::string name;
  std::vector<CostTerm> terms;

  int64_t ns() const {
    int64_t sum = 0;
    for (const CostTerm& term : terms) sum += term.ns;
    return sum;
  }
  // "name: a ms what + b ms what = c ms".
  std::string DebugString() const {
    std::string text = name + ":";
    const char* separator = " ";
    for (const CostTerm& term : terms) {
      absl::StrAppendFormat(&text, "%s%.3f ms %s", separator, term.ns / 1e6,
                            term.what);
      separator = " + ";
    }
    absl::StrAppendFormat(&text, " = %.3f ms", ns() / 1e6);
    return text;
  }

  friend bool operator==(const Cost&, const Cost&) = default;
};

// Ways to do one thing; the first is the plain one.
struct CostComparison {
  std::vector<Cost> ways;
  int chosen = 0;
  // Why ways were left out, if they were.
  std::string remark;

  const Cost& best() const { return ways[chosen]; }
  // A line per way, "* " before the chosen one, then the remark.
  std::string DebugString() const {
    std::string text;
    for (int i = 0; i < static_cast<int>(ways.size()); ++i) {
      text += (i == chosen ? "* " : "  ") + ways[i].DebugString() + "\n";
    }
    if (!remark.empty()) text += "  " + remark + "\n";
    return text;
  }

  friend bool operator==(const CostComparison&,
                         const CostComparison&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.DebugString();
}
inline std::ostream& operator<<(std::ostream& out, const CostComparison& it) {
  return out << it.DebugString();
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_COST_H_
