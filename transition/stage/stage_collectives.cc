#include "transition/stage/stage_collectives.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dynatrain::transition {

std::vector<int64_t> RelayedBytes(const Moves& moves) {
  std::vector<int64_t> relayed(moves.num_ranks());
  for (const Move& move : moves.all()) {
    if (move.into != Space::kStaging) continue;
    relayed[move.receiver] += moves.BytesOf(move.piece);
  }
  return relayed;
}

int64_t RelayRoom(const StagePlan& plan, int stage) {
  int64_t room = std::numeric_limits<int64_t>::max();
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    room = std::min(room, plan.ranks[rank].allowed_bytes -
                              plan.stages[stage].peak_bytes[rank]);
  }
  return std::max<int64_t>(room, 0);
}

void UseMoves(Moves moves, int stage, StagePlan& plan) {
  Stage& it = plan.stages[stage];
  const std::vector<int64_t> before = RelayedBytes(it.moves);
  const std::vector<int64_t> after = RelayedBytes(moves);
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    it.peak_bytes[rank] += after[rank] - before[rank];
    int64_t& peak = plan.ranks[rank].peak_bytes;
    peak = std::max(peak, it.peak_bytes[rank]);
  }
  it.moves = std::move(moves);
}

}  // namespace dynatrain::transition
