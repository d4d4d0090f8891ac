#include "transition/check/check.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transition/check/form.h"
#include "transition/check/matching.h"
#include "transition/check/memory.h"
#include "transition/check/replay.h"

namespace dynatrain::transition {
namespace {

constexpr size_t kMaxViolations = 32;

void Append(Violations& all, Violations more) {
  for (Violation& it : more) {
    if (all.size() == kMaxViolations) return;
    all.push_back(std::move(it));
  }
}

}  // namespace

Violations CheckPrograms(const Claims& claims,
                         absl::Span<const Program> programs) {
  Violations violations = CheckForm(claims, programs);
  // Indices are not to be trusted.
  if (!violations.empty()) return violations;

  Matching matching = Match(programs);
  const bool matched = matching.violations.empty();
  Append(violations, std::move(matching.violations));
  if (matched) {
    Append(violations, CheckEnds(programs, matching));
    Append(violations, CheckWaits(programs, matching, /*credits=*/0));
    for (const int credits : claims.credits) {
      Append(violations, CheckWaits(programs, matching, credits));
    }
  }
  for (const Program& program : programs) {
    Append(violations, CheckMemory(claims, program));
  }
  return violations;
}

absl::Status StatusOf(const Violations& violations) {
  if (violations.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(violations[0].DebugString(),
                   violations.size() > 1
                       ? absl::StrCat(" (and ", violations.size() - 1, " more)")
                       : ""));
}

}  // namespace dynatrain::transition
