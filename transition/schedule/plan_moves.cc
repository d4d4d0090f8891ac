#include "transition/schedule/plan_moves.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "transition/plan/process_plan.h"

namespace dynatrain::transition {
namespace {

Move MoveOf(const PlanInput& input, const Route& route, bool adopted) {
  return {.sender = input.UnionIndexOfSource(route.source_rank),
          .receiver = input.UnionIndexOfTarget(route.target_rank),
          .piece = {route.tensor, route.region, route.target_copy},
          .adopted = adopted,
          .source_copy = route.source_copy};
}

// What the process receives, keeps and zeroes; what it sends is received
// elsewhere.
absl::Status AppendMoves(const PlanInput& input, uint64_t process_id,
                         std::vector<Move>& moves) {
  ASSIGN_OR_RETURN(const ProcessPlan plan, PlanForProcess(input, process_id));
  for (const LocalRoute& local : plan.local) {
    moves.push_back(MoveOf(input, local.route, local.adopted));
  }
  for (const ZeroRegion& zero : plan.zeros) {
    const int rank = input.UnionIndexOfTarget(plan.target_rank);
    moves.push_back({.sender = rank,
                     .receiver = rank,
                     .piece = {zero.tensor, zero.region, zero.copy},
                     .zero = true});
  }
  for (const PeerExchange& peer : plan.peers) {
    for (const Route& route : peer.receive) {
      moves.push_back(MoveOf(input, route, /*adopted=*/false));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Moves> MovesOf(const PlanInput& input) {
  std::vector<int64_t> item_bytes;
  for (int i = 0; i < input.target().layout().num_tensors(); ++i) {
    item_bytes.push_back(input.target().layout().tensor(i).item_bytes());
  }
  std::vector<Move> moves;
  for (const Process& process : input.target().processes()) {
    RETURN_IF_ERROR(AppendMoves(input, process.id, moves));
  }
  return Moves::Create(input.num_processes(), std::move(item_bytes),
                       std::move(moves));
}

}  // namespace dynatrain::transition
