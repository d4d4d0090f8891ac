#include "transition/plan/byte_matrix.h"

#include <algorithm>

#include "transition/plan/route.h"
#include "transition/plan/routing.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

// Needed by the target rank and not held by its process before.
int64_t LackingBytes(const PlanInput& input, int target_rank, int tensor) {
  const vps::Box needed = input.target().layout().LocalBox(target_rank, tensor);
  int64_t elements = needed.num_elements();
  if (const int own = input.SourceRankOfTarget(target_rank); own >= 0) {
    const auto held =
        Intersect(needed, input.source().layout().LocalBox(own, tensor));
    if (held.has_value()) elements -= held->num_elements();
  }
  return elements * input.manifest().tensor(tensor).spec.item_bytes();
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
    for (int tensor = 0; tensor < input.manifest().size(); ++tensor) {
      ForEachRouteTo(input, target, tensor, [&](const Route& route) {
        matrix
            .bytes[static_cast<size_t>(route.source_rank) * matrix.target_size +
                   target] += NumBytes(route, input.manifest());
      });
      matrix.minimal_bytes += LackingBytes(input, target, tensor);
    }
  }
  SumUp(input, matrix);
  return matrix;
}

}  // namespace dynatrain::transition
