#include "transition/plan/byte_matrix.h"

#include <algorithm>

#include "transition/plan/route.h"
#include "transition/plan/routing.h"
#include "transition/plan/tensor_classes.h"

namespace dynatrain::transition {
namespace {

void AddColumn(const PlanInput& input, int target, ByteMatrix& matrix) {
  const auto cell = [&](int source) -> int64_t& {
    return matrix
        .bytes[static_cast<size_t>(source) * matrix.target_size + target];
  };
  const int own = input.SourceRankOfTarget(target);
  TensorClasses classes(input, /*source_rank=*/-1, target);
  Router router(input);
  classes.ForEachTensor([&](int tensor) {
    if (input.MasterOf(tensor) >= 0) return;
    const TensorClass& tensor_class = classes.Of(tensor);
    const int64_t item_bytes = input.item_bytes(tensor);
    matrix.minimal_bytes += tensor_class.lacking_elements * item_bytes;
    for (const KeptPart& part : tensor_class.kept) {
      cell(own) += part.region.num_elements() * item_bytes;
    }
    for (const Demand& demand : tensor_class.incoming) {
      router.ForEachRouteOf(demand, tensor, [&](const Route& route) {
        cell(route.source_rank) += route.region.num_elements() * item_bytes;
      });
    }
  });
}

void SumUp(const PlanInput& input, ByteMatrix& matrix) {
  std::vector<int64_t> sent(matrix.source_size);
  for (int target = 0; target < matrix.target_size; ++target) {
    int64_t received = 0;
    for (int source = 0; source < matrix.source_size; ++source) {
      const int64_t bytes = matrix.at(source, target);
      if (input.SourceRankOfTarget(target) == source) {
        matrix.kept_bytes += bytes;
      } else {
        received += bytes;
        sent[source] += bytes;
      }
    }
    matrix.moved_bytes += received;
    matrix.max_received_bytes = std::max(matrix.max_received_bytes, received);
  }
  for (int64_t bytes : sent) {
    matrix.max_sent_bytes = std::max(matrix.max_sent_bytes, bytes);
  }
}

}  // namespace

ByteMatrix ComputeByteMatrix(const PlanInput& input) {
  ByteMatrix matrix = {.source_size = input.source().size(),
                       .target_size = input.target().size(),
                       .bytes = {}};
  matrix.bytes.resize(static_cast<size_t>(matrix.source_size) *
                      matrix.target_size);
  if (input.source().empty()) return matrix;
  for (int target = 0; target < matrix.target_size; ++target) {
    AddColumn(input, target, matrix);
  }
  SumUp(input, matrix);
  return matrix;
}

}  // namespace dynatrain::transition
