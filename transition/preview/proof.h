// Proof: what the checker (transition/check) says of a previewed transition, of
// all ranks' programs together, made from the plan's moves and the chosen
// schedule.
#ifndef TRANSITION_PREVIEW_PROOF_H_
#define TRANSITION_PREVIEW_PROOF_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "transition/check/violation.h"
#include "transition/plan/plan_input.h"
#include "transition/preview/preview.h"

namespace dynatrain::transition {

struct ProofLimits {
  // Regions that go somewhere or stay. With programs and checker each takes
  // 2.3 kB of memory and 30 us (Qwen3-235B on 128 ranks: 116,022 of them).
  int64_t max_moves = int64_t{1} << 20;
};

struct Proof {
  int num_programs = 0;
  int64_t num_operations = 0;
  int64_t num_moves = 0;
  Violations violations;  // none: all that check.h lists is proved

  bool holds() const { return violations.empty(); }
};

// Proves it in the stages of the preview, each rank within its peak of memory,
// relays of collectives included; without them in one stage without a limit.
// Returns
// kResourceExhausted with the number and the limit if there is more than the
// limits allow, and then has proved nothing. REQUIRES: `preview` is of `input`.
absl::StatusOr<Proof> Prove(const PlanInput& input, const Preview& preview,
                            const ProofLimits& limits = {});

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_PROOF_H_
