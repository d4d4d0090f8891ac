// TensorClasses: what a process keeps, needs and may have to serve, worked out
// once for all tensors of the same shape that are placed alike. A model has
// tens of thousands of tensors and a handful of classes.
#ifndef TRANSITION_PLAN_TENSOR_CLASSES_H_
#define TRANSITION_PLAN_TENSOR_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/plan/demand.h"
#include "transition/plan/plan_input.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

struct TensorClass {
  int num_tensors = 0;
  // Of the process's target rank.
  std::vector<KeptPart> kept;
  std::vector<ZeroPart> zeros;
  std::vector<Demand> incoming;
  int64_t lacking_elements = 0;  // by volumes, not by demands
  // On its source rank.
  std::vector<Demand> outgoing;
};

class TensorClasses {
 public:
  // Of the process with these ranks: what it serves as `source_rank`, what it
  // keeps and needs as `target_rank`; -1 for neither.
  // REQUIRES: the source world is not empty.
  TensorClasses(const PlanInput& input, int source_rank, int target_rank);

  const TensorClass& Of(int tensor) const {
    return classes_[input_.class_of(tensor)];
  }
  absl::Span<const TensorClass> all() const { return classes_; }

 private:
  const PlanInput input_;
  std::vector<TensorClass> classes_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_TENSOR_CLASSES_H_
