#include "vps/layout/state_loss.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "vps/layout/holder_set.h"

namespace dynatrain::vps {
namespace {

// The piece of `rank` is lost. `lost` is sorted and without repetition. It
// gives up at the first survivor, which for a set of a few lost ranks is among
// the first lost.size() + 1 holders.
bool AllLost(const HolderSet& holders, absl::Span<const int> lost) {
  if (holders.size() > static_cast<int>(lost.size())) return false;
  for (int i = 0; i < holders.size(); ++i) {
    if (!std::binary_search(lost.begin(), lost.end(), holders.rank(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

StateLoss ComputeStateLoss(const Layout& layout,
                           absl::Span<const int> lost_ranks, int max_pieces) {
  std::vector<int> lost(lost_ranks.begin(), lost_ranks.end());
  std::sort(lost.begin(), lost.end());
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  StateLoss loss;
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    bool tensor_lost = false;
    for (int rank : lost) {
      const HolderSet holders = layout.HoldersLike(rank, tensor);
      // Holders have equal pieces: count each piece at its first holder.
      if (holders.first() != rank || !AllLost(holders, lost)) continue;
      const Box box = layout.LocalBox(rank, tensor);
      if (box.empty()) continue;
      loss.bytes += box.num_elements() *
                    layout.manifest().tensor(tensor).spec.item_bytes();
      tensor_lost = true;
      if (static_cast<int>(loss.first.size()) < max_pieces) {
        loss.first.push_back({tensor, box, rank});
      }
    }
    if (tensor_lost) ++loss.num_tensors;
  }
  return loss;
}

std::string StateLoss::DebugString(const Manifest& manifest) const {
  if (empty()) return "";
  std::string text = absl::StrCat(bytes, " bytes of ", num_tensors,
                                  num_tensors == 1 ? " tensor" : " tensors",
                                  " have no copy left");
  for (const LostPiece& piece : first) {
    absl::StrAppend(&text, &piece == &first.front() ? ": " : ", ",
                    manifest.tensor(piece.tensor).spec.Id(), " ",
                    piece.box.DebugString(), " (was on rank ", piece.rank, ")");
  }
  return text;
}

}  // namespace dynatrain::vps
