#include "transition/plan/tensor_classes.h"

#include "vps/layout/boxes.h"

namespace dynatrain::transition {
namespace {

TensorClass ClassOf(const PlanInput& input, int source_rank, int target_rank,
                    int tensor) {
  TensorClass result;
  if (target_rank >= 0) {
    const vps::Box needed =
        vps::LocalBox(input.target().layout(), target_rank, tensor);
    result.kept = Kept(input, target_rank, tensor);
    result.lacking_elements = needed.num_elements();
    if (result.kept.has_value()) {
      result.lacking_elements -= result.kept->num_elements();
      result.adopted =
          *result.kept == needed &&
          needed == vps::LocalBox(input.source().layout(),
                                  input.SourceRankOfTarget(target_rank),
                                  tensor);
    }
    ForEachDemandOf(input, target_rank, tensor, [&](const Demand& demand) {
      result.incoming.push_back(demand);
    });
  }
  if (source_rank >= 0) {
    ForEachDemandOn(input, source_rank, tensor, [&](const Demand& demand) {
      result.outgoing.push_back(demand);
    });
  }
  return result;
}

}  // namespace

TensorClasses::TensorClasses(const PlanInput& input, int source_rank,
                             int target_rank)
    : input_(input) {
  classes_.reserve(input.num_classes());
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    // Numbered by their first tensors: each new one is the next.
    if (input.class_of(tensor) == static_cast<int>(classes_.size())) {
      classes_.push_back(ClassOf(input, source_rank, target_rank, tensor));
    }
    ++classes_[input.class_of(tensor)].num_tensors;
  }
}

}  // namespace dynatrain::transition
