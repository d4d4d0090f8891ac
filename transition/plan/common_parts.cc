#include "transition/plan/common_parts.h"

#include <algorithm>
#include <vector>

#include "vps/layout/holder_set.h"

namespace dynatrain::transition {
namespace {

void AppendRanks(const vps::HolderSet& holders, std::vector<int>& ranks) {
  for (int i = 0; i < holders.size(); ++i) ranks.push_back(holders.rank(i));
}

class Cutter {
 public:
  Cutter(const TensorIn& other,
         absl::FunctionRef<void(const CommonPart&)> visit)
      : other_(other),
        num_copies_(other.layout.num_copies(other.tensor)),
        visit_(visit) {}

  void CutPiece(const vps::Piece& piece) {
    holders_.clear();
    AppendRanks(piece.holders, holders_);
    CutByCopies(0, piece.box);
  }

 private:
  // `found_` are the holders of `box` in the copies before `copy`.
  void CutByCopies(int copy, const vps::Box& box) {
    if (copy == num_copies_) return Visit(box);
    other_.layout.ForEachPiece(other_.tensor, copy, box,
                               [&](const vps::Piece& piece) {
                                 const size_t before = found_.size();
                                 AppendRanks(piece.holders, found_);
                                 CutByCopies(copy + 1, piece.box);
                                 found_.resize(before);
                               });
  }

  void Visit(const vps::Box& box) {
    if (num_copies_ == 1) {
      return visit_({box.num_elements(), holders_, found_});
    }
    distinct_ = found_;
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()),
                    distinct_.end());
    visit_({box.num_elements(), holders_, distinct_});
  }

  const TensorIn& other_;
  const int num_copies_;
  const absl::FunctionRef<void(const CommonPart&)> visit_;
  std::vector<int> holders_, found_, distinct_;
};

}  // namespace

void ForEachCommonPart(const TensorIn& one, int copy, const TensorIn& other,
                       const vps::Box& box,
                       absl::FunctionRef<void(const CommonPart&)> visit) {
  Cutter cutter(other, visit);
  one.layout.ForEachPiece(one.tensor, copy, box, [&](const vps::Piece& piece) {
    cutter.CutPiece(piece);
  });
}

}  // namespace dynatrain::transition
