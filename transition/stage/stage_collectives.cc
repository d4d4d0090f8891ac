#include "transition/stage/stage_collectives.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "transition/stage/part_bytes.h"

namespace dynatrain::transition {
namespace {

// By rank, memory from the allocator for packing and unpacking what it sends
// and receives.
std::vector<int64_t> StagingBytes(const Moves& moves, const StagePlan& plan) {
  std::vector<PartBytes> bytes(moves.num_ranks());
  for (const Move& move : moves.all()) {
    if (move.sender == move.receiver) continue;
    bytes[move.sender].sent += moves.BytesOf(move.piece);
    bytes[move.receiver].received += moves.BytesOf(move.piece);
  }
  std::vector<int64_t> staging;
  for (size_t rank = 0; rank < bytes.size(); ++rank) {
    const RankRoom room = {
        .port_staging_bytes = plan.options.port_staging_bytes,
        .dead_bytes = plan.ranks[rank].dead_bytes};
    staging.push_back(room.StagingBytes(bytes[rank]));
  }
  return staging;
}

// What the rank packs if it sends and receives as much as all ranks together.
int64_t MostStagingBytes(const StagePlan& plan, int64_t moved_bytes,
                         size_t rank) {
  const int64_t port = std::min(plan.options.port_staging_bytes, moved_bytes);
  return std::max<int64_t>(0, 2 * port - plan.ranks[rank].dead_bytes);
}

}  // namespace

std::vector<int64_t> RelayedBytes(const Moves& moves) {
  std::vector<int64_t> relayed(moves.num_ranks());
  for (const Move& move : moves.all()) {
    if (move.into != Space::kStaging) continue;
    relayed[move.receiver] += moves.BytesOf(move.piece);
  }
  return relayed;
}

int64_t RelayRoom(const StagePlan& plan, int stage) {
  const Stage& it = plan.stages[stage];
  int64_t moved_bytes = 0;
  for (const Move& move : it.moves.all()) {
    if (move.sender == move.receiver) continue;
    moved_bytes += it.moves.BytesOf(move.piece);
  }
  int64_t room = std::numeric_limits<int64_t>::max();
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    const int64_t without_staging =
        it.peak_bytes[rank] - it.staging_bytes[rank];
    room = std::min(room, plan.ranks[rank].allowed_bytes - without_staging -
                              MostStagingBytes(plan, moved_bytes, rank));
  }
  return std::max<int64_t>(room, 0);
}

bool UseMoves(Moves moves, int stage, StagePlan& plan) {
  Stage& it = plan.stages[stage];
  const std::vector<int64_t> before = RelayedBytes(it.moves);
  const std::vector<int64_t> after = RelayedBytes(moves);
  std::vector<int64_t> staging = StagingBytes(moves, plan);
  std::vector<int64_t> peaks = it.peak_bytes;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    peaks[rank] += after[rank] - before[rank];
    peaks[rank] += staging[rank] - it.staging_bytes[rank];
    if (peaks[rank] > plan.ranks[rank].allowed_bytes) return false;
  }
  it.moves = std::move(moves);
  it.staging_bytes = std::move(staging);
  it.peak_bytes = std::move(peaks);
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    int64_t& peak = plan.ranks[rank].peak_bytes;
    peak = std::max(peak, it.peak_bytes[rank]);
  }
  return true;
}

}  // namespace dynatrain::transition
