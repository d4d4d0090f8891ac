#include "transition/plan/kept_matrix.h"

#include "transition/plan/common_parts.h"

namespace dynatrain::transition {
namespace {

// Adds all tensors of a class, of which `tensor` is one; an element of all of
// them together has `item_bytes`.
void AddClass(const PlanInput& input, int tensor, int64_t item_bytes,
              KeptMatrix& matrix) {
  const TensorIn target = {input.target().layout(), tensor};
  const TensorIn source = {input.source().layout(), input.SourceTensor(tensor)};
  for (int copy = 0; copy < target.layout.num_copies(tensor); ++copy) {
    ForEachCommonPart(
        target, copy, source, input.CommonBox(tensor),
        [&](const CommonPart& part) {
          const int64_t bytes = part.elements * item_bytes;
          for (int rank : part.other_holders) {
            int64_t* row =
                &matrix.bytes[static_cast<size_t>(rank) * matrix.target_size];
            for (int target_rank : part.holders) row[target_rank] += bytes;
          }
        });
  }
}

}  // namespace

KeptMatrix ComputeKeptMatrix(const PlanInput& input) {
  KeptMatrix matrix = {.source_size = input.source().size(),
                       .target_size = input.target().size(),
                       .bytes = {}};
  matrix.bytes.resize(static_cast<size_t>(matrix.source_size) *
                      matrix.target_size);
  if (input.source().empty()) return matrix;
  std::vector<int> first_of_class;
  std::vector<int64_t> item_bytes(input.num_classes());
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    const int kind = input.class_of(tensor);
    // Numbered by their first tensors: each new one is the next.
    if (kind == static_cast<int>(first_of_class.size())) {
      first_of_class.push_back(tensor);
    }
    if (input.MasterOf(tensor) >= 0) continue;
    item_bytes[kind] += input.item_bytes(tensor);
  }
  for (int kind = 0; kind < input.num_classes(); ++kind) {
    if (item_bytes[kind] == 0) continue;
    AddClass(input, first_of_class[kind], item_bytes[kind], matrix);
  }
  return matrix;
}

}  // namespace dynatrain::transition
