// The job's state as tests know it.
#ifndef TRANSITION_ENGINE_TENSOR_STATE_TESTUTIL_H_
#define TRANSITION_ENGINE_TENSOR_STATE_TESTUTIL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "transition/plan/world.h"

namespace dynatrain::transition {

// Local tensors of one process in one world: values that depend on tensor,
// state and global index alone, in memory with random padding and order of
// dims.
class TensorState {
 public:
  TensorState() = default;
  // Filled with noise. `rank` -1: nothing.
  static TensorState Allocate(const World& world, int rank,
                              std::mt19937_64& random);

  // Writes what the job's state is.
  void FillWithValues();
  // "" if all elements are the job's state, else the first that isn't.
  std::string FirstWrongElement() const;
  // Visits each tensor as it has to be bound.
  void ForEachTensor(
      const std::function<
          void(int tensor, std::byte* data, absl::Span<const int64_t> shape,
               absl::Span<const int64_t> strides_bytes)>& visit);
  // All memory, padding too.
  const std::map<int, std::vector<std::byte>>& memory() const {
    return memory_;
  }

 private:
  // Visits each element: its place in memory, and its value.
  void ForEachElement(
      const std::function<void(int tensor, int64_t offset,
                               absl::Span<const std::byte> value)>& visit)
      const;

  World world_;
  int rank_ = -1;
  std::map<int, std::vector<int64_t>> strides_bytes_;
  std::map<int, std::vector<std::byte>> memory_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_TENSOR_STATE_TESTUTIL_H_
