// Which of the possible layouts to run.
//
// The one that leaves most of the running layout as it is, because bytes that
// stay need not move: tp and pp first (they cut the large tensors), then ep and
// rep. Of those, the one with the largest dp: data parallelism communicates
// least. So a layout that is still permitted at the same size is kept.
#ifndef OPERATOR_SOLVER_CHOOSE_H_
#define OPERATOR_SOLVER_CHOOSE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "api/job/spec.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::control {

struct LayoutChoice {
  vps::AxisSizes layout;
  std::string reason;  // for people: "keeps tp2, pp1 of dp2,tp2,pp1; dp 2 -> 3"
};

// Returns kFailedPrecondition if `world_size` has no layout; the message says
// under which constraints.
absl::StatusOr<LayoutChoice> ChooseLayout(
    int world_size, const api::Parallelism& constraints,
    const std::optional<vps::AxisSizes>& running);

// The constraints as one line: "dp>=1, tp 1..4, pp=1". Axes that must be 1 are
// left out, but for dp, tp and pp.
std::string DescribeConstraints(const api::Parallelism& constraints);

}  // namespace dynatrain::control

#endif  // OPERATOR_SOLVER_CHOOSE_H_
