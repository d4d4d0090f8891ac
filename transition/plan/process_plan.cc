#include "transition/plan/process_plan.h"

#include <algorithm>
#include <memory>
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

// A box that goes to or comes from a peer, of each tensor of a class.
struct PeerBox {
  int peer = -1;  // index into peers_; -1: not met yet
  RouteList::Shape shape = 0;
  int64_t elements = 0;
  uint64_t hash = 0;  // without the tensor
};

// False if the rank is -1.
bool Holds(const vps::Layout& layout, int rank, int tensor) {
  if (rank < 0) return false;
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    if (layout.IsAt(rank, tensor, copy)) return true;
  }
  return false;
}

// A demand of all tensors of a class.
struct ClassDemand {
  const Demand* demand;
  bool outgoing;
  int own_part = 0;      // if outgoing: what we send
  size_t first_box = 0;  // of ClassBoxes::peer_boxes
};

struct LocalBox {
  RouteList::Shape shape;
  bool adopted;
};

// What all tensors of a class have in common.
struct ClassBoxes {
  int64_t kept_elements = 0;
  int64_t adopted_elements = 0;
  std::vector<LocalBox> local;
  std::vector<ClassDemand> demands;
  // Of each demand by part: the whole region, from its sender.
  std::vector<PeerBox> peer_boxes;
};

// Gathers routes into a ProcessPlan.
class Builder {
 public:
  Builder(const PlanInput& input, uint64_t process_id, int source_rank,
          int target_rank)
      : input_(input), router_(input) {
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
    for (auto& [step, index] : SortedPeers()) {
      PeerExchange& peer = peers_[index];
      peer.send.Sort();
      peer.receive.Sort();
      plan_.peers.push_back(std::move(peer));
    }
    return std::move(plan_);
  }

 private:
  void AddRoutes() {
    TensorClasses classes(input_, plan_.source_rank, plan_.target_rank);
    boxes_.resize(input_.num_shared_classes());
    classes.ForEachTensor([&](int tensor) {
      if (const int master = input_.MasterOf(tensor); master >= 0) {
        return AddRegenerated({tensor, master});
      }
      const TensorClass& tensor_class = classes.Of(tensor);
      plan_.bytes.minimal_bytes +=
          tensor_class.lacking_elements * input_.item_bytes(tensor);
      for (const ZeroPart& part : tensor_class.zeros) AddZero(part, tensor);
      AddTensor(BoxesOf(tensor_class, tensor), tensor);
    });
  }

  // What the tensors of the class have in common, worked out with the first.
  ClassBoxes& BoxesOf(const TensorClass& tensor_class, int tensor) {
    const int shared = input_.shared_class_of(tensor);
    if (shared >= 0) {
      std::unique_ptr<ClassBoxes>& boxes = boxes_[shared];
      if (boxes == nullptr) {
        boxes = std::make_unique<ClassBoxes>();
        FillBoxes(tensor_class, *boxes);
      }
      return *boxes;
    }
    if (small_class_ != input_.class_of(tensor)) {
      small_class_ = input_.class_of(tensor);
      FillBoxes(tensor_class, small_boxes_);
    }
    return small_boxes_;
  }

  void FillBoxes(const TensorClass& tensor_class, ClassBoxes& boxes) {
    boxes.kept_elements = boxes.adopted_elements = 0;
    boxes.local.clear();
    boxes.demands.clear();
    boxes.peer_boxes.clear();
    for (const KeptPart& part : tensor_class.kept) {
      const int64_t elements = part.region.num_elements();
      boxes.kept_elements += elements;
      if (part.adopted) boxes.adopted_elements += elements;
      boxes.local.push_back(
          {plan_.local.AddShape(RouteOf(part, /*tensor=*/0)), part.adopted});
    }
    const auto add = [&](const Demand& demand, bool outgoing, int own_part) {
      const size_t first_box = boxes.peer_boxes.size();
      boxes.demands.push_back({&demand, outgoing, own_part, first_box});
      boxes.peer_boxes.resize(first_box + demand.senders.size());
    };
    for (const Demand& demand : tensor_class.incoming) {
      add(demand, /*outgoing=*/false, 0);
    }
    for (const Demand& demand : tensor_class.outgoing) {
      add(demand, /*outgoing=*/true,
          *demand.senders.IndexOf(plan_.source_rank));
    }
  }

  void AddTensor(ClassBoxes& boxes, int tensor) {
    for (const LocalBox& box : boxes.local) {
      plan_.local.Append(tensor, box.shape, box.adopted);
    }
    const int64_t item_bytes = input_.item_bytes(tensor);
    plan_.bytes.kept_bytes += boxes.kept_elements * item_bytes;
    plan_.bytes.adopted_bytes += boxes.adopted_elements * item_bytes;
    for (const ClassDemand& demand : boxes.demands) {
      AddDemand(demand, &boxes.peer_boxes[demand.first_box], tensor);
    }
  }

  // `boxes` by part.
  void AddDemand(const ClassDemand& c, PeerBox* boxes, int tensor) {
    if (c.demand->senders.num_candidates() == 1) {
      return AddWhole(c, /*sender=*/0, boxes[0], tensor);
    }
    const DemandPlace place = router_.PlaceOf(*c.demand, tensor);
    const int only = OnlySender(*c.demand, place);
    if (only < 0) {
      return ForEachRouteAt(*c.demand, place, tensor, [&](const Route& route) {
        if (c.outgoing && route.source_rank != plan_.source_rank) return;
        Add(BoxOf(route, c.outgoing), c.outgoing, tensor);
      });
    }
    AddWhole(c, only, boxes[only], tensor);
  }

  void AddWhole(const ClassDemand& c, int sender, PeerBox& box, int tensor) {
    if (c.outgoing && sender != c.own_part) return;
    if (box.peer < 0) {
      box = BoxOf(WholeRoute(*c.demand, sender, tensor), c.outgoing);
    }
    Add(box, c.outgoing, tensor);
  }

  PeerBox BoxOf(const Route& route, bool outgoing) {
    PeerExchange& peer = outgoing ? PeerOfTarget(route.target_rank)
                                  : PeerOfSource(route.source_rank);
    return {.peer = static_cast<int>(&peer - peers_.data()),
            .shape = (outgoing ? peer.send : peer.receive).AddShape(route),
            .elements = route.region.num_elements(),
            .hash = HashWithoutTensor(route, input_)};
  }

  void Add(const PeerBox& box, bool outgoing, int tensor) {
    PeerExchange& peer = peers_[box.peer];
    const int64_t bytes = box.elements * input_.item_bytes(tensor);
    const uint64_t hash = HashWithTensor(box.hash, tensor);
    if (outgoing) {
      peer.send.Append(tensor, box.shape);
      peer.send_bytes += bytes;
      plan_.bytes.sent_bytes += bytes;
      plan_.sent_hash += hash;
    } else {
      peer.receive.Append(tensor, box.shape);
      peer.receive_bytes += bytes;
      plan_.bytes.received_bytes += bytes;
      plan_.received_hash += hash;
    }
  }

  Route RouteOf(const KeptPart& part, int tensor) const {
    return {.tensor = tensor,
            .region = part.region,
            .source_rank = plan_.source_rank,
            .target_rank = plan_.target_rank,
            .source_copy = part.source_copy,
            .target_copy = part.target_copy};
  }

  void AddZero(const ZeroPart& part, int tensor) {
    plan_.zeros.push_back({tensor, part.target_copy, part.region});
    plan_.bytes.zero_bytes +=
        part.region.num_elements() * input_.item_bytes(tensor);
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
  Router router_;
  ProcessPlan plan_;
  int union_index_ = 0;
  std::vector<std::unique_ptr<ClassBoxes>> boxes_;  // by shared class
  ClassBoxes small_boxes_;
  int small_class_ = -1;  // whose they are
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
