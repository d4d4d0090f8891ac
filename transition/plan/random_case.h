// Random pairs of worlds with one box per rank and tensor, for tests.
#ifndef TRANSITION_PLAN_RANDOM_CASE_H_
#define TRANSITION_PLAN_RANDOM_CASE_H_

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

// All that a PlanInput is made of, as plain lists.
struct PlanCase {
  struct Split {
    int axis = 0;  // index into the axes
    int dim = 0;
  };
  struct Tensor {
    std::vector<int64_t> shape;
    std::vector<Split> splits;
  };
  struct Side {
    std::vector<int> sizes;     // one per axis
    std::vector<uint64_t> ids;  // one per rank
  };

  std::vector<std::string> axes;  // slowest first
  std::vector<Tensor> tensors;
  Side source;
  Side target;
  int ranks_per_member = 1;  // the member of process id is id / this
  int64_t min_sender_bytes = 1;
  int max_senders = 1;
};

// Tensors of 0 to 4 dims with extents 0 to 7, worlds of up to 16 ranks in any
// order, with all, some or no processes in common.
PlanCase RandomCase(std::mt19937_64& random);

absl::StatusOr<PlanInput> MakeInput(const PlanCase& plan_case);

// Process ids for two worlds of these sizes: the first's are 1..n in any order,
// of the second's all, some or none are among them.
std::pair<std::vector<uint64_t>, std::vector<uint64_t>> RandomProcesses(
    int source_size, int target_size, std::mt19937_64& random);

std::ostream& operator<<(std::ostream& out, const PlanCase& plan_case);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_RANDOM_CASE_H_
