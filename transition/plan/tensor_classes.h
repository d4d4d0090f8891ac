// TensorClasses: what a process keeps, needs and may have to serve, worked out
// once for all tensors of the same shape that are placed alike. A model has
// tens of thousands of tensors and, but for flat buffers, a handful of classes.
#ifndef TRANSITION_PLAN_TENSOR_CLASSES_H_
#define TRANSITION_PLAN_TENSOR_CLASSES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "transition/plan/demand.h"
#include "transition/plan/plan_input.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

struct TensorClass {
  // Of the process's target rank. In the order of routes.
  std::vector<KeptPart> kept;
  std::vector<ZeroPart> zeros;
  std::vector<Demand> incoming;
  int64_t lacking_elements = 0;  // by volumes, not by demands
  // On its source rank. By target rank, then in the order of routes.
  std::vector<Demand> outgoing;
};

class TensorClasses {
 public:
  // Of the process with these ranks: what it serves as `source_rank`, what it
  // keeps and needs as `target_rank`; -1 for neither.
  // REQUIRES: the source world is not empty; both ranks are of one process.
  TensorClasses(const PlanInput& input, int source_rank, int target_rank);
  // What it gave points into it.
  TensorClasses(const TensorClasses&) = delete;
  TensorClasses& operator=(const TensorClasses&) = delete;

  // Valid as long as this; of a small class (PlanInput::shared_class_of) until
  // a tensor of another one is asked for.
  const TensorClass& Of(int tensor);

  // The tensors of which the process may hold something in either world,
  // ascending, each once.
  void ForEachTensor(absl::FunctionRef<void(int tensor)> visit) const;

 private:
  void Fill(int tensor, TensorClass& tensor_class);

  const PlanInput input_;
  const int source_rank_;
  const int target_rank_;
  DemandFinder finder_;
  std::vector<std::unique_ptr<TensorClass>> shared_;  // null until asked for
  TensorClass small_;
  int small_class_ = -1;  // whose it is
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_TENSOR_CLASSES_H_
