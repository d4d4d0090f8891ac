#include "transition/plan/process_plan.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transition/plan/regenerate.h"
#include "transition/plan/routing.h"
#include "transition/plan/tensor_classes.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

// Routes come tensor by tensor, so most lists are sorted as they are.
void SortUnlessSorted(std::vector<Route>& routes) {
  if (!std::is_sorted(routes.begin(), routes.end())) {
    std::sort(routes.begin(), routes.end());
  }
}

// False if the rank is -1.
bool Holds(const vps::Layout& layout, int rank, int tensor) {
  if (rank < 0) return false;
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    if (layout.IsAt(rank, tensor, copy)) return true;
  }
  return false;
}

bool IsBefore(const LocalRoute& a, const LocalRoute& b) {
  return a.route < b.route;
}

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
    std::sort(plan_.zeros.begin(), plan_.zeros.end());
    if (!std::is_sorted(plan_.local.begin(), plan_.local.end(), IsBefore)) {
      std::sort(plan_.local.begin(), plan_.local.end(), IsBefore);
    }
    for (auto& [step, index] : SortedPeers()) {
      PeerExchange& peer = peers_[index];
      SortUnlessSorted(peer.send);
      SortUnlessSorted(peer.receive);
      plan_.peers.push_back(std::move(peer));
    }
    return std::move(plan_);
  }

 private:
  void AddRoutes() {
    const TensorClasses classes(input_, plan_.source_rank, plan_.target_rank);
    Reserve(classes);
    for (int tensor = 0; tensor < input_.num_tensors(); ++tensor) {
      if (input_.MasterOf(tensor) >= 0) {
        AddRegenerated({tensor, input_.MasterOf(tensor)});
        continue;
      }
      const TensorClass& tensor_class = classes.Of(tensor);
      const int64_t item_bytes = input_.tensor(tensor).item_bytes();
      plan_.bytes.minimal_bytes += tensor_class.lacking_elements * item_bytes;
      for (const KeptPart& part : tensor_class.kept) AddLocal(part, tensor);
      for (const ZeroPart& part : tensor_class.zeros) AddZero(part, tensor);
      for (const Demand& demand : tensor_class.incoming) {
        ForEachRouteOf(input_, demand, tensor,
                       [&](const Route& route) { AddIncoming(route); });
      }
      for (const Demand& demand : tensor_class.outgoing) {
        ForEachRouteOf(input_, demand, tensor, [&](const Route& route) {
          if (route.source_rank == plan_.source_rank) AddOutgoing(route);
        });
      }
    }
  }

  // With one sender of a region the number of routes is known; several share a
  // line of tensors by position, so each sends about its part of the tensors.
  // Growing the lists instead would double the time of a plan: its memory is
  // touched for the first time, and page faults cost more than routing.
  void Reserve(const TensorClasses& classes) {
    size_t kept = 0;
    std::vector<size_t> sent, received;
    const auto count = [&](PeerExchange& peer, std::vector<size_t>& counts,
                           int num_tensors, int num_senders) {
      counts.resize(peers_.size());
      counts[&peer - peers_.data()] +=
          num_senders == 1 ? num_tensors : num_tensors / num_senders + 2;
    };
    for (const TensorClass& c : classes.all()) {
      kept += c.kept.size() * c.num_tensors;
      for (const Demand& demand : c.incoming) {
        const int senders = demand.senders.size();
        for (int i = 0; i < senders; ++i) {
          count(PeerOfSource(demand.senders.rank(i)), received, c.num_tensors,
                senders);
        }
      }
      for (const Demand& demand : c.outgoing) {
        count(PeerOfTarget(demand.target_rank), sent, c.num_tensors,
              demand.senders.size());
      }
    }
    plan_.local.reserve(kept);
    for (size_t i = 0; i < sent.size(); ++i) peers_[i].send.reserve(sent[i]);
    for (size_t i = 0; i < received.size(); ++i) {
      peers_[i].receive.reserve(received[i]);
    }
  }

  void AddIncoming(const Route& route) {
    const int64_t bytes = NumBytes(route, input_);
    PeerExchange& peer = PeerOfSource(route.source_rank);
    peer.receive.push_back(route);
    peer.receive_bytes += bytes;
    plan_.bytes.received_bytes += bytes;
    plan_.received_hash += HashOf(route, input_);
  }

  void AddOutgoing(const Route& route) {
    const int64_t bytes = NumBytes(route, input_);
    PeerExchange& peer = PeerOfTarget(route.target_rank);
    peer.send.push_back(route);
    peer.send_bytes += bytes;
    plan_.bytes.sent_bytes += bytes;
    plan_.sent_hash += HashOf(route, input_);
  }

  void AddLocal(const KeptPart& part, int tensor) {
    const Route route = {.tensor = tensor,
                         .region = part.region,
                         .source_rank = plan_.source_rank,
                         .target_rank = plan_.target_rank,
                         .source_copy = part.source_copy,
                         .target_copy = part.target_copy};
    const int64_t bytes = NumBytes(route, input_);
    plan_.local.push_back({route, part.adopted});
    plan_.bytes.kept_bytes += bytes;
    if (part.adopted) plan_.bytes.adopted_bytes += bytes;
  }

  void AddZero(const ZeroPart& part, int tensor) {
    plan_.zeros.push_back({tensor, part.target_copy, part.region});
    plan_.bytes.zero_bytes +=
        part.region.num_elements() * input_.tensor(tensor).item_bytes();
  }

  void AddRegenerated(const Regenerated& weight) {
    if (!Holds(input_.target().layout(), plan_.target_rank, weight.weight)) {
      return;
    }
    plan_.regenerated.push_back(weight);
    plan_.bytes.gathered_bytes +=
        GatheredBytes(input_, plan_.target_rank, weight);
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

  std::vector<std::pair<int, size_t>> SortedPeers() const {
    std::vector<std::pair<int, size_t>> sorted(index_of_step_.begin(),
                                               index_of_step_.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
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
    const auto [it, is_new] = index_of_step_.try_emplace(
        PeerStep(union_index_, union_index), peers_.size());
    if (is_new) {
      peers_.push_back({.peer = process,
                        .peer_source_rank = source_rank,
                        .peer_target_rank = target_rank});
    }
    return peers_[it->second];
  }

  const PlanInput& input_;
  ProcessPlan plan_;
  int union_index_ = 0;
  absl::flat_hash_map<int, size_t> index_of_step_;
  std::vector<PeerExchange> peers_;  // in the order of their first route
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
