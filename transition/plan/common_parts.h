// Common parts: who holds what of a tensor in one layout, and of a tensor in
// another, part by part. For what looks at whole worlds (kept_matrix,
// regenerate).
#ifndef TRANSITION_PLAN_COMMON_PARTS_H_
#define TRANSITION_PLAN_COMMON_PARTS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {

struct CommonPart {
  int64_t elements = 0;  // at least 1
  // Of one copy of the tensor, and of any copy of the other one; each rank is
  // there once.
  absl::Span<const int> holders;
  absl::Span<const int> other_holders;
};

struct TensorIn {
  const vps::Layout& layout;
  int tensor;
};

// Cuts `box` into parts of which each rank holds all or nothing, of the copy as
// of all copies of `other`. Spans are valid during the call only.
// REQUIRES: `box` lies within both tensors.
void ForEachCommonPart(const TensorIn& one, int copy, const TensorIn& other,
                       const vps::Box& box,
                       absl::FunctionRef<void(const CommonPart&)> visit);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_COMMON_PARTS_H_
