#include "transition/plan/tensor_classes.h"

#include <algorithm>
#include <tuple>

#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

bool IsBefore(const KeptPart& a, const KeptPart& b) {
  if (auto order = a.region <=> b.region; order != 0) return order < 0;
  return std::tie(a.source_copy, a.target_copy) <
         std::tie(b.source_copy, b.target_copy);
}

bool IsBefore(const Demand& a, const Demand& b) {
  if (a.target_rank != b.target_rank) return a.target_rank < b.target_rank;
  if (auto order = a.region <=> b.region; order != 0) return order < 0;
  return std::tie(a.source_copy, a.target_copy) <
         std::tie(b.source_copy, b.target_copy);
}

template <typename Part>
void Sort(std::vector<Part>& parts) {
  // One part is the common case, and Demands are dear to move.
  const auto is_before = [](const Part& a, const Part& b) {
    return IsBefore(a, b);
  };
  if (!std::is_sorted(parts.begin(), parts.end(), is_before)) {
    std::sort(parts.begin(), parts.end(), is_before);
  }
}

std::vector<int> TensorsOf(const vps::Layout& layout, int rank) {
  std::vector<int> tensors;
  if (rank < 0) return tensors;
  layout.ForEachTensorOf(rank, [&](int tensor) { tensors.push_back(tensor); });
  return tensors;
}

}  // namespace

TensorClasses::TensorClasses(const PlanInput& input, int source_rank,
                             int target_rank)
    : input_(input),
      source_rank_(source_rank),
      target_rank_(target_rank),
      finder_(input_, source_rank, target_rank),
      shared_(input.num_shared_classes()) {}

const TensorClass& TensorClasses::Of(int tensor) {
  const int shared = input_.shared_class_of(tensor);
  if (shared < 0) {
    if (small_class_ != input_.class_of(tensor)) {
      small_class_ = input_.class_of(tensor);
      Fill(tensor, small_);
    }
    return small_;
  }
  if (shared_[shared] == nullptr) {
    shared_[shared] = std::make_unique<TensorClass>();
    Fill(tensor, *shared_[shared]);
  }
  return *shared_[shared];
}

void TensorClasses::Fill(int tensor, TensorClass& c) {
  c.kept.clear();
  c.zeros.clear();
  c.incoming.clear();
  c.outgoing.clear();
  c.lacking_elements = 0;
  if (target_rank_ >= 0) {
    const int64_t elements = finder_.ForEachPart(
        tensor,
        [&](const KeptPart& part) {
          c.lacking_elements -= part.region.num_elements();
          c.kept.push_back(part);
        },
        [&](const ZeroPart& part) {
          c.lacking_elements -= part.region.num_elements();
          c.zeros.push_back(part);
        },
        [&](const Demand& demand) { c.incoming.push_back(demand); });
    c.lacking_elements += elements;
  }
  if (source_rank_ >= 0) {
    finder_.ForEachDemandOn(
        tensor, [&](const Demand& demand) { c.outgoing.push_back(demand); });
  }
  Sort(c.kept);
  Sort(c.incoming);
  Sort(c.outgoing);
}

void TensorClasses::ForEachTensor(absl::FunctionRef<void(int)> visit) const {
  std::vector<int> before = TensorsOf(input_.source().layout(), source_rank_);
  for (int& tensor : before) tensor = input_.TargetTensor(tensor);
  if (!std::is_sorted(before.begin(), before.end())) {
    std::sort(before.begin(), before.end());
  }
  const std::vector<int> after =
      TensorsOf(input_.target().layout(), target_rank_);
  for (auto b = before.cbegin(), a = after.cbegin();
       b != before.end() || a != after.end();) {
    const bool from_before =
        a == after.end() || (b != before.end() && *b <= *a);
    const int tensor = from_before ? *b : *a;
    if (b != before.end() && *b == tensor) ++b;
    if (a != after.end() && *a == tensor) ++a;
    visit(tensor);
  }
}

}  // namespace dynatrain::transition
