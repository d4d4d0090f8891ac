#include "transition/stage/lines.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "transition/program/program.h"
#include "transition/stage/atoms.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// Atoms of equal signatures are on one line: sender, receiver, copies and ways
// of each move.
using Signature = std::vector<std::array<int, 8>>;

Signature SignatureOf(const Moves& moves, absl::Span<const int> members) {
  Signature signature;
  for (const int i : members) {
    const Move& it = moves.all()[i];
    signature.push_back({it.sender, it.receiver, it.source_copy, it.piece.copy,
                         static_cast<int>(it.space), static_cast<int>(it.into),
                         it.stream, it.adopted ? 1 : 0});
  }
  std::sort(signature.begin(), signature.end());
  return signature;
}

// For each tensor, its moves but zeros.
std::vector<std::vector<int>> ByTensor(const Moves& moves) {
  std::vector<std::vector<int>> by_tensor(moves.item_bytes().size());
  for (int i = 0; i < static_cast<int>(moves.all().size()); ++i) {
    const Move& move = moves.all()[i];
    if (!move.zero) by_tensor[move.piece.tensor].push_back(i);
  }
  return by_tensor;
}

std::vector<RankRate> RatesOf(const Moves& moves,
                              absl::Span<const int> members) {
  std::map<int, RankRate> rates;
  for (const int i : members) {
    const Move& move = moves.all()[i];
    if (move.adopted) continue;
    const bool relay = move.into == Space::kStaging;
    RankRate& receiver = rates[move.receiver];
    if (relay) ++receiver.relays;
    if (!relay) ++receiver.allocates;
    if (move.sender == move.receiver) continue;
    ++receiver.receives;
    ++rates[move.sender].sends;
  }
  for (const Holder& it : FreedHolders(moves, members)) ++rates[it.rank].frees;
  std::vector<RankRate> sorted;
  for (auto& [rank, rate] : rates) {
    rate.rank = rank;
    sorted.push_back(rate);
  }
  return sorted;
}

class Builder {
 public:
  explicit Builder(const Moves& moves) : moves_(moves) {}

  Lines Build() && {
    const auto by_tensor = ByTensor(moves_);
    for (int tensor = 0; tensor < static_cast<int>(by_tensor.size());
         ++tensor) {
      AddTensor(tensor, by_tensor[tensor]);
    }
    return std::move(lines_);
  }

 private:
  void AddTensor(int tensor, absl::Span<const int> moves) {
    regions_.clear();
    for (const int i : moves) regions_.push_back(moves_.all()[i].piece.region);
    ForEachAtom(regions_, [&](const Box& box, absl::Span<const int> members) {
      members_.clear();
      for (const int member : members) members_.push_back(moves[member]);
      AddAtom(tensor, box);
    });
  }

  void AddAtom(int tensor, const Box& box) {
    if (std::all_of(members_.begin(), members_.end(),
                    [&](int i) { return moves_.all()[i].adopted; })) {
      return;
    }
    const auto [it, is_new] = line_of_.try_emplace(
        SignatureOf(moves_, members_), static_cast<int>(lines_.lines.size()));
    if (is_new) {
      lines_.lines.push_back({.rates = RatesOf(moves_, members_)});
    }
    Line& line = lines_.lines[it->second];
    const int64_t bytes = moves_.BytesOf({tensor, box});
    line.atoms.push_back({tensor, box, bytes,
                          static_cast<int>(lines_.members.size()),
                          static_cast<int>(members_.size())});
    line.bytes += bytes;
    lines_.members.insert(lines_.members.end(), members_.begin(),
                          members_.end());
  }

  const Moves& moves_;
  Lines lines_;
  absl::flat_hash_map<Signature, int> line_of_;  // looked up, never listed
  std::vector<Box> regions_;
  std::vector<int> members_;  // of the atom at hand
};

}  // namespace

Lines MakeLines(const Moves& moves) { return Builder(moves).Build(); }

std::vector<Holder> FreedHolders(const Moves& moves,
                                 absl::Span<const int> members) {
  std::vector<Holder> read;
  std::vector<Holder> adopted;
  for (const int i : members) {
    const Move& move = moves.all()[i];
    if (move.space != Space::kSource) continue;
    (move.adopted ? adopted : read).push_back({move.sender, move.source_copy});
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  std::erase_if(read, [&](const Holder& it) {
    return std::count(adopted.begin(), adopted.end(), it) > 0;
  });
  return read;
}

}  // namespace dynatrain::transition
