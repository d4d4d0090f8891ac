#include "transition/check/check.h"

#include <utility>

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
  Violations violations;
  Append(violations, CheckForm(claims, programs));
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

}  // namespace dynatrain::transition
