#include "transition/plan/kept_matrix.h"

#include "absl/functional/function_ref.h"
#include "transition/plan/common_parts.h"

namespace dynatrain::transition {
namespace {

// Calls with each part of which every rank holds all or nothing, of one tensor
// of each class, and with its bytes in all tensors of the class together.
void ForEachPart(
    const PlanInput& input,
    absl::FunctionRef<void(const CommonPart&, int64_t bytes)> visit) {
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
    const int tensor = first_of_class[kind];
    const TensorIn target = {input.target().layout(), tensor};
    const TensorIn source = {input.source().layout(),
                             input.SourceTensor(tensor)};
    for (int copy = 0; copy < target.layout.num_copies(tensor); ++copy) {
      ForEachCommonPart(target, copy, source, input.CommonBox(tensor),
                        [&](const CommonPart& part) {
                          visit(part, part.elements * item_bytes[kind]);
                        });
    }
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
  ForEachPart(input, [&](const CommonPart& part, int64_t bytes) {
    for (int rank : part.other_holders) {
      int64_t* row =
          &matrix.bytes[static_cast<size_t>(rank) * matrix.target_size];
      for (int target_rank : part.holders) row[target_rank] += bytes;
    }
  });
  return matrix;
}

GivenKept ComputeGivenKept(const PlanInput& input) {
  GivenKept given;
  if (input.source().empty()) return given;
  std::vector<bool> holds(input.source().size());
  ForEachPart(input, [&](const CommonPart& part, int64_t bytes) {
    if (part.other_holders.empty()) return;
    for (int rank : part.other_holders) holds[rank] = true;
    for (int target_rank : part.holders) {
      const int rank = input.SourceRankOfTarget(target_rank);
      if (rank >= 0 && holds[rank]) given.kept_bytes += bytes;
      given.reachable_bytes += bytes;
    }
    for (int rank : part.other_holders) holds[rank] = false;
  });
  return given;
}

}  // namespace dynatrain::transition
