#include "transition/plan/process_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transition/plan/routing.h"

namespace dynatrain::transition {
namespace {

// Gathers routes into a ProcessPlan.
class Builder {
 public:
  Builder(const PlanInput& input, uint64_t process_id, int source_rank,
          int target_rank)
      : input_(input) {
    plan_.process_id = process_id;
    plan_.source_rank = source_rank;
    plan_.target_rank = target_rank;
    union_index_ = source_rank >= 0 ? input.UnionIndexOfSource(source_rank)
                                    : input.UnionIndexOfTarget(target_rank);
  }

  ProcessPlan Build() && {
    if (!input_.source().empty()) {
      AddRoutes();
      AddBlobs();
    }
    for (auto& [step, peer] : peers_) {
      std::sort(peer.send.begin(), peer.send.end());
      std::sort(peer.receive.begin(), peer.receive.end());
      plan_.peers.push_back(std::move(peer));
    }
    return std::move(plan_);
  }

 private:
  void AddRoutes() {
    for (int tensor = 0; tensor < input_.manifest().size(); ++tensor) {
      if (plan_.target_rank >= 0) {
        ForEachRouteTo(input_, plan_.target_rank, tensor,
                       [&](const Route& route) { AddIncoming(route); });
        plan_.bytes.minimal_bytes += LackingBytes(tensor);
      }
      if (plan_.source_rank >= 0) {
        ForEachRouteFrom(input_, plan_.source_rank, tensor,
                         [&](const Route& route) { AddOutgoing(route); });
      }
    }
  }

  void AddIncoming(const Route& route) {
    const int64_t bytes = NumBytes(route, input_.manifest());
    if (route.source_rank == plan_.source_rank) {
      AddLocal(route, bytes);
      return;
    }
    PeerExchange& peer = PeerOfSource(route.source_rank);
    peer.receive.push_back(route);
    peer.receive_bytes += bytes;
    plan_.bytes.received_bytes += bytes;
    plan_.received_hash += HashOf(route, input_);
  }

  void AddOutgoing(const Route& route) {
    if (route.target_rank == plan_.target_rank) return;  // came as incoming
    const int64_t bytes = NumBytes(route, input_.manifest());
    PeerExchange& peer = PeerOfTarget(route.target_rank);
    peer.send.push_back(route);
    peer.send_bytes += bytes;
    plan_.bytes.sent_bytes += bytes;
    plan_.sent_hash += HashOf(route, input_);
  }

  void AddLocal(const Route& route, int64_t bytes) {
    const bool adopted = route.region == input_.source().layout().LocalBox(
                                             plan_.source_rank, route.tensor) &&
                         route.region == input_.target().layout().LocalBox(
                                             plan_.target_rank, route.tensor);
    plan_.local.push_back({route, adopted});
    plan_.bytes.kept_bytes += bytes;
    if (adopted) plan_.bytes.adopted_bytes += bytes;
  }

  void AddBlobs() {
    if (plan_.target_rank >= 0) {
      for (const BlobRoute& blob : BlobsTo(input_, plan_.target_rank)) {
        if (blob.source_rank == plan_.source_rank) {
          plan_.local_blobs.push_back(blob);
        } else {
          PeerOfSource(blob.source_rank).receive_blobs.push_back(blob);
        }
      }
    }
    if (plan_.source_rank >= 0) {
      for (const BlobRoute& blob : BlobsFrom(input_, plan_.source_rank)) {
        if (blob.target_rank == plan_.target_rank) continue;
        PeerOfTarget(blob.target_rank).send_blobs.push_back(blob);
      }
    }
  }

  // Needed in the target world and not held in the source world, by volumes
  // alone: independent of how routes were found.
  int64_t LackingBytes(int tensor) const {
    const vps::Box needed =
        input_.target().layout().LocalBox(plan_.target_rank, tensor);
    int64_t elements = needed.num_elements();
    if (plan_.source_rank >= 0) {
      const auto held = Intersect(
          needed, input_.source().layout().LocalBox(plan_.source_rank, tensor));
      if (held.has_value()) elements -= held->num_elements();
    }
    return elements * input_.manifest().tensor(tensor).spec.item_bytes();
  }

  PeerExchange& PeerOfSource(int rank) {
    return Peer(input_.UnionIndexOfSource(rank), rank,
                input_.TargetRankOfSource(rank), input_.source().process(rank));
  }
  PeerExchange& PeerOfTarget(int rank) {
    return Peer(input_.UnionIndexOfTarget(rank),
                input_.SourceRankOfTarget(rank), rank,
                input_.target().process(rank));
  }
  PeerExchange& Peer(int union_index, int source_rank, int target_rank,
                     const Process& process) {
    PeerExchange& peer = peers_[PeerStep(union_index_, union_index)];
    peer.peer = process;
    peer.peer_source_rank = source_rank;
    peer.peer_target_rank = target_rank;
    return peer;
  }

  const PlanInput& input_;
  ProcessPlan plan_;
  int union_index_ = 0;
  std::map<int, PeerExchange> peers_;  // by step
};

}  // namespace

absl::StatusOr<ProcessPlan> PlanForProcess(const PlanInput& input,
                                           uint64_t process_id) {
  const int source_rank = input.source().RankOf(process_id).value_or(-1);
  const int target_rank = input.target().RankOf(process_id).value_or(-1);
  if (source_rank < 0 && target_rank < 0) {
    return absl::NotFoundError(
        absl::StrCat("process ", process_id,
                     " is neither in the source world nor in the "
                     "target world"));
  }
  return Builder(input, process_id, source_rank, target_rank).Build();
}

}  // namespace dynatrain::transition
