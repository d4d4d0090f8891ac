#include "transition/preview/planned_bytes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "transition/plan/regenerate.h"
#include "transition/plan/route.h"
#include "transition/plan/routing.h"
#include "transition/plan/tensor_classes.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

// Tensors whose bytes go the same way unless several ranks share in sending.
struct Kind {
  int first_tensor = 0;
  int state = 0;  // index into PlannedBytes::states
  int64_t item_bytes = 0;
  bool regenerated = false;
  std::vector<int> tensors;
};

class Accountant {
 public:
  explicit Accountant(const PlanInput& input) : input_(input) {
    bytes_.processes.resize(input.num_processes());
    FindStates();
    FindKinds();
  }

  PlannedBytes Account() && {
    for (int rank = 0; rank < input_.source().size(); ++rank) AddSource(rank);
    for (int rank = 0; rank < input_.target().size(); ++rank) AddTarget(rank);
    for (const StateBytes& state : bytes_.states) bytes_.total += state.sums;
    std::sort(bytes_.flows.begin(), bytes_.flows.end());
    for (const Flow& flow : bytes_.flows) {
      bytes_.processes[flow.sender].sent_bytes += flow.bytes;
    }
    return std::move(bytes_);
  }

 private:
  void FindStates() {
    absl::flat_hash_map<std::string, int> index_of;
    for (int tensor = 0; tensor < input_.num_tensors(); ++tensor) {
      const vps::TensorSpec& spec = input_.tensor(tensor);
      const auto [it, is_new] =
          index_of.try_emplace(spec.state(), bytes_.states.size());
      if (is_new) bytes_.states.push_back({.state = spec.state()});
      state_of_tensor_.push_back(it->second);
      bytes_.states[it->second].whole_bytes += spec.num_bytes();
    }
  }

  void FindKinds() {
    absl::flat_hash_map<std::tuple<int, int, int64_t, bool>, size_t> index_of;
    for (int tensor = 0; tensor < input_.num_tensors(); ++tensor) {
      const int64_t item_bytes = input_.tensor(tensor).item_bytes();
      const int state = state_of_tensor_[tensor];
      const bool regenerated = input_.MasterOf(tensor) >= 0;
      const auto [it, is_new] = index_of.try_emplace(
          std::tuple(input_.class_of(tensor), state, item_bytes, regenerated),
          kinds_.size());
      if (is_new) {
        kinds_.push_back({tensor, state, item_bytes, regenerated, {}});
      }
      kinds_[it->second].tensors.push_back(tensor);
    }
  }

  // The tensors of a layout's own order, which may be another than the input's.
  void AddSource(int rank) {
    const vps::Layout& layout = input_.source().layout();
    ByteSums& process = bytes_.processes[input_.UnionIndexOfSource(rank)].sums;
    for (const Kind& kind : kinds_) {
      int64_t elements = 0;
      layout.ForEachRegionOf(rank, input_.SourceTensor(kind.first_tensor),
                             [&](const vps::OwnedRegion& region) {
                               elements += region.global.num_elements();
                             });
      const int64_t bytes = elements * kind.item_bytes * Count(kind);
      bytes_.states[kind.state].sums.source_bytes += bytes;
      process.source_bytes += bytes;
    }
  }

  void AddTarget(int rank) {
    const int receiver = input_.UnionIndexOfTarget(rank);
    TensorClasses classes(input_, /*source_rank=*/-1, rank);
    absl::flat_hash_map<int, int64_t> bytes_of_sender;
    for (const Kind& kind : kinds_) {
      const TensorClass& tensor_class = classes.Of(kind.first_tensor);
      ByteSums sums;
      if (kind.regenerated) {
        sums = MadeAnew(kind, rank);
      } else {
        sums = KeptAndZero(kind, tensor_class);
        for (const Demand& demand : tensor_class.incoming) {
          sums.moved_bytes += AddDemand(kind, demand, bytes_of_sender);
        }
      }
      sums.target_bytes = sums.kept_bytes + sums.zero_bytes + sums.moved_bytes +
                          sums.regenerated_bytes;
      bytes_.states[kind.state].sums += sums;
      bytes_.processes[receiver].sums += sums;
    }
    for (const auto& [sender, bytes] : bytes_of_sender) {
      bytes_.flows.push_back({sender, receiver, bytes});
    }
  }

  ByteSums MadeAnew(const Kind& kind, int rank) const {
    ByteSums sums;
    input_.target().layout().ForEachRegionOf(
        rank, kind.first_tensor, [&](const vps::OwnedRegion& region) {
          sums.regenerated_bytes +=
              region.global.num_elements() * kind.item_bytes * Count(kind);
        });
    if (sums.regenerated_bytes == 0) return sums;
    for (const int tensor : kind.tensors) {
      sums.gathered_bytes +=
          GatheredBytes(input_, rank, {tensor, input_.MasterOf(tensor)});
    }
    return sums;
  }

  static ByteSums KeptAndZero(const Kind& kind,
                              const TensorClass& tensor_class) {
    ByteSums sums;
    const int64_t scale = kind.item_bytes * Count(kind);
    for (const KeptPart& part : tensor_class.kept) {
      const int64_t bytes = part.region.num_elements() * scale;
      sums.kept_bytes += bytes;
      if (part.adopted) sums.adopted_bytes += bytes;
    }
    for (const ZeroPart& part : tensor_class.zeros) {
      sums.zero_bytes += part.region.num_elements() * scale;
    }
    sums.minimal_bytes = tensor_class.lacking_elements * scale;
    return sums;
  }

  // Returns the bytes of the demand over all tensors of the kind. Only where
  // several send does it depend on the tensor (its place on its line) who does.
  int64_t AddDemand(const Kind& kind, const Demand& demand,
                    absl::flat_hash_map<int, int64_t>& bytes_of_sender) const {
    int64_t sum = 0;
    const auto add = [&](int source_rank, int64_t bytes) {
      bytes_of_sender[input_.UnionIndexOfSource(source_rank)] += bytes;
      sum += bytes;
    };
    if (demand.senders.size() == 1) {
      add(demand.senders.rank(0),
          demand.region.num_elements() * kind.item_bytes * Count(kind));
      return sum;
    }
    for (const int tensor : kind.tensors) {
      ForEachRouteOf(input_, demand, tensor, [&](const Route& route) {
        add(route.source_rank, route.region.num_elements() * kind.item_bytes);
      });
    }
    return sum;
  }

  static int64_t Count(const Kind& kind) {
    return static_cast<int64_t>(kind.tensors.size());
  }

  const PlanInput& input_;
  std::vector<int> state_of_tensor_;
  std::vector<Kind> kinds_;
  PlannedBytes bytes_;
};

}  // namespace

ByteSums& ByteSums::operator+=(const ByteSums& other) {
  source_bytes += other.source_bytes;
  target_bytes += other.target_bytes;
  kept_bytes += other.kept_bytes;
  adopted_bytes += other.adopted_bytes;
  moved_bytes += other.moved_bytes;
  minimal_bytes += other.minimal_bytes;
  zero_bytes += other.zero_bytes;
  regenerated_bytes += other.regenerated_bytes;
  gathered_bytes += other.gathered_bytes;
  return *this;
}

PlannedBytes ComputePlannedBytes(const PlanInput& input) {
  return Accountant(input).Account();
}

}  // namespace dynatrain::transition
