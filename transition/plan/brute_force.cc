#include "transition/plan/brute_force.h"

namespace dynatrain::transition {
namespace {

using Indices = std::vector<int64_t>;

Indices Range(int64_t begin, int64_t size) {
  Indices indices;
  for (int64_t i = 0; i < size; ++i) indices.push_back(begin + i);
  return indices;
}

// The list that torch.chunk(indices, count) has at `piece`; torch leaves the
// missing chunks out, here they are empty.
Indices Chunk(const Indices& indices, int count, int piece) {
  const size_t n = indices.size();
  const size_t length = (n + count - 1) / count;
  Indices result;
  for (size_t i = 0; i < n; ++i) {
    if (length > 0 && i / length == static_cast<size_t>(piece)) {
      result.push_back(indices[i]);
    }
  }
  return result;
}

// The product of index lists, as flat indices.
Elements Product(const std::vector<int64_t>& tensor_shape,
                 const std::vector<Indices>& indices) {
  Elements flat = {0};
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    Elements next;
    for (int64_t prefix : flat) {
      for (int64_t i : indices[dim])
        next.insert(prefix * tensor_shape[dim] + i);
    }
    flat = next;
  }
  return flat;
}

// Coordinates of all ranks, by counting like an odometer.
std::vector<std::vector<int>> AllCoordinates(const std::vector<int>& sizes) {
  std::vector<std::vector<int>> all = {{}};
  for (int size : sizes) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& prefix : all) {
      for (int c = 0; c < size; ++c) {
        longer.push_back(prefix);
        longer.back().push_back(c);
      }
    }
    all = longer;
  }
  return all;
}

}  // namespace

Holdings BruteForceHoldings(const PlanCase& plan_case,
                            const PlanCase::Side& side) {
  Holdings holdings;
  for (const std::vector<int>& coordinates : AllCoordinates(side.sizes)) {
    holdings.emplace_back();
    for (const PlanCase::Tensor& tensor : plan_case.tensors) {
      std::vector<Indices> indices;
      for (int64_t extent : tensor.shape) indices.push_back(Range(0, extent));
      for (const PlanCase::Split& split : tensor.splits) {
        indices[split.dim] = Chunk(indices[split.dim], side.sizes[split.axis],
                                   coordinates[split.axis]);
      }
      holdings.back().push_back(Product(tensor.shape, indices));
    }
  }
  return holdings;
}

Elements BruteForceBox(const std::vector<int64_t>& tensor_shape,
                       const std::vector<int64_t>& origin,
                       const std::vector<int64_t>& shape) {
  std::vector<Indices> indices;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    indices.push_back(Range(origin[dim], shape[dim]));
  }
  return Product(tensor_shape, indices);
}

}  // namespace dynatrain::transition
