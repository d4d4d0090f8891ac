// What is wrong with programs, and where.
#ifndef TRANSITION_CHECK_VIOLATION_H_
#define TRANSITION_CHECK_VIOLATION_H_

#include <ostream>
#include <string>
#include <vector>

namespace dynatrain::transition {

enum class ViolationKind {
  kMalformed,     // not a program: unknown rank, tensor or buffer, bad nesting
  kWrongDigest,   // made from another plan
  kGroup,         // too many operations, or the ends are in other windows
  kUnmatched,     // a send without its receive, or the other way round
  kMismatched,    // ends of one message disagree on pieces or bytes
  kDeadlock,      // somebody waits for ever
  kNotHeld,       // reads what the rank has not (yet)
  kReleased,      // reads or frees what was freed
  kNotAllocated,  // writes where there is no room (yet), or allocates what is
                  // not of the target world
  kOverlap,       // an element is written or allocated twice
  kGap,           // an element of the target world is not written
  kWrongZero,     // zeroes what has content, or fills what is to be zero
  kLeak,          // staging memory is not given back
  kOverBudget,    // more memory than allowed
};

// "malformed", "deadlock", ...
const char* ViolationName(ViolationKind kind);

struct Violation {
  ViolationKind kind = ViolationKind::kMalformed;
  int rank = -1;
  int operation = -1;  // index in the rank's program; -1 if it is none of them
  std::string text;    // for people: what is wrong, with the values

  // "deadlock: rank 3, operation 7: waits for ...".
  std::string DebugString() const;
};
using Violations = std::vector<Violation>;

inline std::ostream& operator<<(std::ostream& out, const Violation& it) {
  return out << it.DebugString();
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_VIOLATION_H_
