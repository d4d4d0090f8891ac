// Weights made anew from their masters. A rank that gets its share of a float32
// master can cast it and gather the weight from the ranks that have the other
// shares, instead of receiving the weight from the old world. Where a change
// moves weights (another tp or pp), that may be fewer bytes; where weights
// stay (another dp), it never is.
//
//   const Regeneration chosen =
//       ChooseRegenerated(input, {.cast = WeightCast::kNearestEven});
//   ASSIGN_OR_RETURN(input, input.WithRegenerated(chosen.weights));
//
// The plan of that input moves masters and leaves those weights out; the
// runtime casts and gathers them once all has moved. Off unless asked for: a
// runtime that doesn't do it must not ask.
#ifndef TRANSITION_PLAN_REGENERATE_H_
#define TRANSITION_PLAN_REGENERATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

// How a job's weights follow from its masters after each step.
enum class WeightCast {
  // Not known, or the runtime doesn't cast and gather. Nothing is regenerated.
  kUnknown = 0,
  // Rounded to nearest, ties to even, as torch's copy_ and Megatron's
  // optimizers do: casting again gives the same bits.
  kNearestEven,
  // With random bits: casting again gives others. Nothing is regenerated.
  kStochastic,
};

struct RegenerateOptions {
  WeightCast cast = WeightCast::kUnknown;
  // States of the weight and of its master (vps::TensorSpec::state).
  std::string weight_state = "param";
  std::string master_state = "main";
  // All whose bits follow, also where moving them would be fewer bytes.
  bool always = false;
};

// What was weighed and chosen for weights that are placed alike.
struct WeightChoice {
  int first_weight = 0;
  int num_weights = 0;
  bool regenerate = false;
  // All bytes that enter ranks, of all these weights: if the weight is moved,
  // what it lacks; if it is made anew, all but what the rank has in its own
  // part of the master: 2 (dp - 1) / dp bytes per element and rank where dp
  // ranks share the master (ZeRO).
  int64_t moved_bytes = 0;
  int64_t gathered_bytes = 0;

  friend bool operator==(const WeightChoice&, const WeightChoice&) = default;
};

struct Regeneration {
  std::vector<WeightChoice> choices;  // by first weight
  std::vector<Regenerated> weights;   // by weight: those that are made anew
  // Of these weights.
  int64_t moved_bytes = 0;     // what moving them would have cost
  int64_t gathered_bytes = 0;  // what making them anew costs

  // A line per choice: "w/param and 3 more: moved 8 B, gathered 4 B: gathered".
  std::string DebugString(const PlanInput& input) const;
};

// Weighs every weight whose bits the cast of its master gives: kNearestEven, a
// float32 master of the same shape in a bfloat16 or float16 weight. Never codes
// of 8 bits, whose scales have a history, nor half a master (precision-aware).
// Of equal bytes, moving is chosen. Empty if the source world is.
Regeneration ChooseRegenerated(const PlanInput& input,
                               const RegenerateOptions& options);

// What a target rank receives to make the weight anew: the bytes of its part of
// the weight that it has not in its part of the master. Rank-local.
int64_t GatheredBytes(const PlanInput& input, int target_rank,
                      const Regenerated& weight);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_REGENERATE_H_
