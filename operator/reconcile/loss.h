// What is lost when pods die, for people.
#ifndef OPERATOR_RECONCILE_LOSS_H_
#define OPERATOR_RECONCILE_LOSS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "operator/reconcile/round.h"

namespace dynatrain::control {

// "1536 bytes of 3 tensors have no copy left: w/exp_avg [0:4, 0:8] (was on rank
// 2), ...", from the manifest and the running layout; or why that can't be
// told. `lost` are members of the running world.
std::string DescribeLoss(const Round& round, const std::vector<uint32_t>& lost);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_LOSS_H_
