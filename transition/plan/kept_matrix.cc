#include "transition/plan/kept_matrix.h"

#include <algorithm>

#include "vps/geometry/box.h"
#include "vps/layout/holder_set.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

void AppendRanks(const vps::HolderSet& holders, std::vector<int>& ranks) {
  for (int i = 0; i < holders.size(); ++i) ranks.push_back(holders.rank(i));
}

class Adder {
 public:
  Adder(const PlanInput& input, KeptMatrix& matrix)
      : input_(input), source_(input.source().layout()), matrix_(matrix) {}

  // All tensors of a class, of which `tensor` is one; an element of all of them
  // together has `item_bytes`.
  void Add(int tensor, int64_t item_bytes) {
    source_tensor_ = input_.SourceTensor(tensor);
    item_bytes_ = item_bytes;
    const vps::Layout& target = input_.target().layout();
    const vps::Box common = input_.CommonBox(tensor);
    for (int copy = 0; copy < target.num_copies(tensor); ++copy) {
      target.ForEachPiece(tensor, copy, common, [&](const vps::Piece& piece) {
        targets_.clear();
        AppendRanks(piece.holders, targets_);
        CutByCopies(0, piece.box);
      });
    }
  }

 private:
  // Cuts `box` until each part is held, or not, as a whole in all source
  // copies. `sources_` are its holders in the copies before `copy`.
  void CutByCopies(int copy, const vps::Box& box) {
    if (copy == source_.num_copies(source_tensor_)) return AddPart(box);
    source_.ForEachPiece(source_tensor_, copy, box,
                         [&](const vps::Piece& piece) {
                           const size_t before = sources_.size();
                           AppendRanks(piece.holders, sources_);
                           CutByCopies(copy + 1, piece.box);
                           sources_.resize(before);
                         });
  }

  void AddPart(const vps::Box& box) {
    const int64_t bytes = box.num_elements() * item_bytes_;
    // A rank that has the part in two copies keeps it once.
    distinct_ = sources_;
    if (source_.num_copies(source_tensor_) > 1) {
      std::sort(distinct_.begin(), distinct_.end());
      distinct_.erase(std::unique(distinct_.begin(), distinct_.end()),
                      distinct_.end());
    }
    for (int source : distinct_) {
      int64_t* row =
          &matrix_.bytes[static_cast<size_t>(source) * matrix_.target_size];
      for (int target : targets_) row[target] += bytes;
    }
  }

  const PlanInput& input_;
  const vps::Layout& source_;
  KeptMatrix& matrix_;
  int source_tensor_ = 0;
  int64_t item_bytes_ = 0;
  std::vector<int> targets_, sources_, distinct_;
};

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
    item_bytes[kind] += input.tensor(tensor).item_bytes();
  }
  Adder adder(input, matrix);
  for (int kind = 0; kind < input.num_classes(); ++kind) {
    adder.Add(first_of_class[kind], item_bytes[kind]);
  }
  return matrix;
}

}  // namespace dynatrain::transition
