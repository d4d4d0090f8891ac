#include "transition/check/violation.h"

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {

const char* ViolationName(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::kMalformed:
      return "malformed";
    case ViolationKind::kWrongDigest:
      return "wrong digest";
    case ViolationKind::kGroup:
      return "group";
    case ViolationKind::kUnmatched:
      return "unmatched";
    case ViolationKind::kMismatched:
      return "mismatched";
    case ViolationKind::kDeadlock:
      return "deadlock";
    case ViolationKind::kNotHeld:
      return "not held";
    case ViolationKind::kReleased:
      return "released";
    case ViolationKind::kNotAllocated:
      return "not allocated";
    case ViolationKind::kOverlap:
      return "overlap";
    case ViolationKind::kGap:
      return "gap";
    case ViolationKind::kWrongZero:
      return "wrong zero";
    case ViolationKind::kLeak:
      return "leak";
    case ViolationKind::kOverBudget:
      return "over budget";
  }
  return "unknown";
}

std::string Violation::DebugString() const {
  std::string where = absl::StrCat("rank ", rank);
  if (operation >= 0) absl::StrAppend(&where, ", operation ", operation);
  return absl::StrCat(ViolationName(kind), ": ", where, ": ", text);
}

}  // namespace dynatrain::transition
