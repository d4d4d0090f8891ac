// The job's state as tests know it.
#ifndef TRANSITION_ENGINE_TENSOR_STATE_TESTUTIL_H_
#define TRANSITION_ENGINE_TENSOR_STATE_TESTUTIL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "transition/plan/world.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {

// What one process holds in one world: values that depend on tensor, state and
// global index alone (0 in rows of padding), in memory with random gaps and
// order of dims.
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
  // Visits each copy of a tensor as it has to be bound.
  void ForEachTensor(
      const std::function<void(int tensor, int copy, std::byte* data,
                               absl::Span<const int64_t> shape,
                               absl::Span<const int64_t> strides_bytes)>&
          visit);
  // By tensor and copy.
  using Key = std::pair<int, int>;
  // All memory, gaps too.
  const std::map<Key, std::vector<std::byte>>& memory() const {
    return memory_;
  }

 private:
  // Visits each element: its place in memory, and its value.
  void ForEachElement(
      const std::function<void(const Key& key, int64_t offset,
                               absl::Span<const std::byte> value)>& visit)
      const;

  World world_;
  int rank_ = -1;
  std::map<Key, vps::LocalShape> shapes_;
  std::map<Key, std::vector<int64_t>> strides_bytes_;
  std::map<Key, std::vector<std::byte>> memory_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_TENSOR_STATE_TESTUTIL_H_
