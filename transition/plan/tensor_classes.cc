#include "transition/plan/tensor_classes.h"

#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

TensorClass ClassOf(const PlanInput& input, int source_rank, int target_rank,
                    int tensor) {
  TensorClass result;
  if (target_rank >= 0) {
    input.target().layout().ForEachRegionOf(
        target_rank, tensor, [&](const vps::OwnedRegion& region) {
          result.lacking_elements += region.global.num_elements();
        });
    ForEachPartOf(
        input, target_rank, tensor,
        [&](const KeptPart& part) {
          result.lacking_elements -= part.region.num_elements();
          result.kept.push_back(part);
        },
        [&](const ZeroPart& part) {
          result.lacking_elements -= part.region.num_elements();
          result.zeros.push_back(part);
        },
        [&](const Demand& demand) { result.incoming.push_back(demand); });
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
