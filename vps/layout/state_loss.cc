#include "vps/layout/state_loss.h"

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "vps/layout/holder_set.h"

namespace dynatrain::vps {
namespace {

// No holder survives. `lost` is sorted and without repetition. O(lost ranks).
bool AllLost(const HolderSet& holders, absl::Span<const int> lost) {
  if (holders.size() > static_cast<int>(lost.size())) return false;
  for (int i = 0; i < holders.size(); ++i) {
    if (!std::binary_search(lost.begin(), lost.end(), holders.rank(i))) {
      return false;
    }
  }
  return true;
}

// The parts of `box` that no surviving rank has of copies from `copy` on.
void ForEachLost(const Layout& layout, absl::Span<const int> lost, int tensor,
                 int copy, const Box& box,
                 absl::FunctionRef<void(const Box&)> visit) {
  if (copy == layout.num_copies(tensor)) return visit(box);
  layout.ForEachPiece(tensor, copy, box, [&](const Piece& piece) {
    if (!AllLost(piece.holders, lost)) return;
    ForEachLost(layout, lost, tensor, copy + 1, piece.box, visit);
  });
}

}  // namespace

StateLoss ComputeStateLoss(const Layout& layout,
                           absl::Span<const int> lost_ranks, int max_pieces) {
  std::vector<int> lost(lost_ranks.begin(), lost_ranks.end());
  std::sort(lost.begin(), lost.end());
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  StateLoss loss;
  int last_tensor = -1;
  const auto add = [&](int tensor, const Box& box, int rank) {
    loss.bytes += box.num_elements() * layout.tensor(tensor).item_bytes();
    if (tensor != last_tensor) ++loss.num_tensors;
    last_tensor = tensor;
    if (static_cast<int>(loss.first.size()) < max_pieces) {
      loss.first.push_back({tensor, box, rank});
    }
  };
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    for (int rank : lost) {
      if (!layout.IsAt(rank, tensor, 0)) continue;
      const HolderSet holders = layout.HoldersLike(rank, tensor, 0);
      // Holders have equal pieces: count each piece at its first holder.
      if (holders.first() != rank || !AllLost(holders, lost)) continue;
      layout.ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
        if (region.copy != 0) return;
        ForEachLost(layout, lost, tensor, 1, region.global,
                    [&](const Box& box) { add(tensor, box, rank); });
      });
    }
  }
  return loss;
}

std::string StateLoss::DebugString(const Layout& layout) const {
  if (empty()) return "";
  std::string text = absl::StrCat(bytes, " bytes of ", num_tensors,
                                  num_tensors == 1 ? " tensor" : " tensors",
                                  " have no copy left");
  for (const LostPiece& piece : first) {
    absl::StrAppend(&text, &piece == &first.front() ? ": " : ", ",
                    layout.tensor(piece.tensor).Id(), " ",
                    piece.box.DebugString(), " (was on rank ", piece.rank, ")");
  }
  return text;
}

}  // namespace dynatrain::vps
