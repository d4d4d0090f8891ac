// Compares what lies in the final tensors with what lay in the sources: a
// digest per route, taken by its sender over the source tensor and here over
// the target's memory after all of the route has been written to it.
#ifndef TRANSITION_ENGINE_VERIFIER_H_
#define TRANSITION_ENGINE_VERIFIER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "transition/engine/bindings.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/route.h"

namespace dynatrain::transition {

// Thread-compatible.
class Verifier {
 public:
  explicit Verifier(PlanInput input) : input_(std::move(input)) {}

  // A route to check; returns its number. `target` must stay where it is.
  size_t Add(const Route& route, const RegionMemory* target);
  // All of the route is in the target's memory now.
  void Written(size_t check) { ready_.push_back(check); }
  // What the source's digest is.
  void Expect(size_t check, uint64_t digest) {
    checks_[check].expected = digest;
  }

  // Digests the next piece of what has been written; false if there is none.
  bool Step();
  // True if all that was added has been digested.
  bool done() const { return num_digested_ == checks_.size(); }

  // Once done() and all are expected: OK, or kDataLoss naming tensor, state,
  // region and ranks of the first route that differs and how many do.
  absl::Status Compare() const;

 private:
  struct Check {
    Route route;
    const RegionMemory* target = nullptr;
    std::optional<uint64_t> expected = {};
    int64_t num_elements = 0;  // digested so far
    uint64_t digest = 0;
  };

  const PlanInput input_;
  std::vector<Check> checks_;
  std::deque<size_t> ready_;
  size_t num_digested_ = 0;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_VERIFIER_H_
