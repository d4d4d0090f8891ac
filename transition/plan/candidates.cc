#include "transition/plan/candidates.h"

#include <algorithm>
#include <utility>

#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

std::optional<int> IndexIn(const std::vector<int>& ranks, int rank) {
  const auto it = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (it == ranks.end() || *it != rank) return std::nullopt;
  return static_cast<int>(it - ranks.begin());
}

// The holders in a group of their world, ascending: O(the fewer of both).
std::vector<int> HoldersIn(const World& world, const vps::HolderSet& holders,
                           Tier tier, uint32_t group) {
  std::vector<int> ranks;
  const absl::Span<const int> all = world.RanksIn(tier, group);
  if (static_cast<int>(all.size()) <= holders.size()) {
    for (const int rank : all) {
      if (holders.Contains(rank)) ranks.push_back(rank);
    }
    return ranks;
  }
  for (int i = 0; i < holders.size(); ++i) {
    const int rank = holders.rank(i);
    if (GroupOf(world.process(rank), tier) == group) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

std::optional<int> Candidates::IndexOf(int rank) const {
  return near_.empty() ? holders_.IndexOf(rank) : IndexIn(near_, rank);
}

void ForEachTurnOf(int index, int size, int candidates, int64_t begin,
                   int64_t end, absl::FunctionRef<void(int64_t)> visit) {
  if (size == candidates) {
    for (int64_t turn = begin; turn < end; ++turn) visit(turn);
    return;
  }
  // With turn t, candidates t * size ... t * size + size - 1 (modulo their
  // number n) send. Number `index` is one of them exactly if for some q
  //   q * n + index - size < t * size <= q * n + index,
  // which one t fulfils for each q: the runs of a q are `size` apart.
  const int64_t n = candidates;
  const int64_t first_q = std::max<int64_t>(0, (begin * size - index) / n);
  for (int64_t q = first_q;; ++q) {
    const int64_t turn = (q * n + index) / size;
    if (turn >= end) return;
    if (turn >= begin) visit(turn);
  }
}

int CandidateFinder::MostSenders(int target_tensor) const {
  const PlanOptions& options = input_.options();
  return static_cast<int>(std::clamp<int64_t>(
      input_.line_span(target_tensor).line_bytes / options.min_sender_bytes, 1,
      options.max_senders));
}

const Candidates* CandidateFinder::Find(const HeldPiece& piece, int placement,
                                        Tier tier, uint32_t group) {
  const CandidatesKey key = {placement, piece.holders.first(), tier, group};
  const auto [it, is_new] = candidates_.try_emplace(key);
  if (!is_new) return it->second.get();
  std::unique_ptr<Candidates>& found = it->second;
  if (tier == Tier::kAnywhere) {
    found = std::make_unique<Candidates>(piece.holders);
  } else {
    std::vector<int> near =
        HoldersIn(input_.source(), piece.holders, tier, group);
    if (near.empty()) return nullptr;
    found = std::make_unique<Candidates>(piece.holders, std::move(near));
  }
  found->key = key;
  if (input_.shares() != nullptr && found->size() > 1) {
    const auto shared = input_.shares()->groups.find(key);
    if (shared != input_.shares()->groups.end()) found->group = &shared->second;
  }
  return found.get();
}

const std::vector<int>& CandidateFinder::TargetsIn(const HeldPiece& to,
                                                   int placement, Tier tier,
                                                   uint32_t group) {
  const auto [it, is_new] = targets_.try_emplace(
      CandidatesKey{placement, to.holders.first(), tier, group});
  if (is_new) {
    it->second = HoldersIn(input_.target(), to.holders, tier, group);
  }
  return it->second;
}

const Candidates* CandidateFinder::FindNearest(const HeldPiece& piece,
                                               int placement, int target_rank) {
  const Process& process = input_.target().process(target_rank);
  const Candidates* nearest = nullptr;
  for (const Tier tier : kTiers) {
    const std::optional<uint32_t> group = GroupOf(process, tier);
    if (group.has_value()) nearest = Find(piece, placement, tier, *group);
    if (nearest != nullptr) break;
  }
  return nearest;  // not null: all holders are somewhere
}

Service CandidateFinder::MakeService(const HeldPiece& piece, int placement,
                                     int target_rank, int target_tensor,
                                     int target_copy) {
  const Candidates* candidates = FindNearest(piece, placement, target_rank);
  // Nobody asks whose turn it is.
  if (candidates->size() == 1) return {candidates, 0};
  const vps::Layout& target = input_.target().layout();
  const HeldPiece to = {
      target_tensor, target_copy,
      target.HoldersLike(target_rank, target_tensor, target_copy)};
  const Tier tier = candidates->key.tier;
  const std::optional<int> index =
      tier == Tier::kAnywhere
          ? to.holders.IndexOf(target_rank)
          : IndexIn(
                TargetsIn(to, target.held(target_tensor, target_copy).placement,
                          tier, candidates->key.group),
                target_rank);
  return {candidates,
          *index + target.PieceIndex(target_rank, target_tensor, target_copy)};
}

Service CandidateFinder::ServiceOf(const HeldPiece& piece, int target_rank,
                                   int target_tensor, int target_copy) {
  const int placement =
      input_.source().layout().held(piece.tensor, piece.copy).placement;
  const auto [it, is_new] = services_.try_emplace(
      Key{placement, piece.holders.first(),
          input_.target().layout().held(target_tensor, target_copy).placement,
          target_rank});
  if (is_new) {
    it->second =
        MakeService(piece, placement, target_rank, target_tensor, target_copy);
  }
  return it->second;
}

std::vector<int> CandidateFinder::FindReceivers(const HeldPiece& from,
                                                const HeldPiece& to) {
  const World& source = input_.source();
  const World& target = input_.target();
  const int from_placement =
      source.layout().held(from.tensor, from.copy).placement;
  const int to_placement = target.layout().held(to.tensor, to.copy).placement;
  const int64_t first_turn =
      target.layout().PieceIndex(to.holders.first(), to.tensor, to.copy);
  std::vector<int> receivers;
  for (const Tier tier : kTiers) {
    const std::optional<uint32_t> group =
        GroupOf(source.process(source_rank_), tier);
    if (!group.has_value()) continue;
    const Candidates& candidates = *Find(from, from_placement, tier, *group);
    const auto add = [&](int rank) {
      const int own = input_.SourceRankOfTarget(rank);
      if (own >= 0 && from.holders.Contains(own)) return;
      // Of several tiers that we share with it, the nearest serves it.
      if (FindNearest(from, from_placement, rank) == &candidates) {
        receivers.push_back(rank);
      }
    };
    const int size = candidates.group != nullptr
                         ? candidates.size()
                         : std::min(candidates.size(), MostSenders(to.tensor));
    const auto add_all = [&](int num_targets, const auto& target_rank) {
      ForEachTurnOf(*candidates.IndexOf(source_rank_), size, candidates.size(),
                    first_turn, first_turn + num_targets, [&](int64_t turn) {
                      add(target_rank(static_cast<int>(turn - first_turn)));
                    });
    };
    if (tier == Tier::kAnywhere) {
      add_all(to.holders.size(), [&](int i) { return to.holders.rank(i); });
    } else {
      const std::vector<int>& targets =
          TargetsIn(to, to_placement, tier, *group);
      add_all(static_cast<int>(targets.size()),
              [&](int i) { return targets[i]; });
    }
  }
  return receivers;
}

absl::Span<const int> CandidateFinder::ReceiversOf(const HeldPiece& from,
                                                   const HeldPiece& to) {
  const Key key = {
      input_.source().layout().held(from.tensor, from.copy).placement,
      from.holders.first(),
      input_.target().layout().held(to.tensor, to.copy).placement,
      to.holders.first(), MostSenders(to.tensor)};
  const auto it = receivers_.find(key);
  if (it != receivers_.end()) return it->second;
  return receivers_[key] = FindReceivers(from, to);
}

}  // namespace dynatrain::transition
