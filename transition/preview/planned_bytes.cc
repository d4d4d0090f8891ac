#include "transition/preview/planned_bytes.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "transition/plan/regenerate.h"
#include "transition/plan/route.h"
#include "transition/plan/routing.h"
#include "transition/plan/tensor_classes.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

class Accountant {
 public:
  explicit Accountant(const PlanInput& input) : input_(input) {
    bytes_.processes.resize(input.num_processes());
    FindStates();
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

  // The tensors of a layout's own order, which may be another than the input's.
  void AddSource(int rank) {
    ByteSums& process = bytes_.processes[input_.UnionIndexOfSource(rank)].sums;
    input_.source().layout().ForEachRegion(
        rank, [&](const vps::OwnedRegion& region) {
          const int tensor = input_.TargetTensor(region.tensor);
          const int64_t bytes =
              region.global.num_elements() * input_.item_bytes(tensor);
          StateOf(tensor).source_bytes += bytes;
          process.source_bytes += bytes;
        });
  }

  void AddTarget(int rank) {
    const int receiver = input_.UnionIndexOfTarget(rank);
    TensorClasses classes(input_, /*source_rank=*/-1, rank);
    Router router(input_);
    absl::flat_hash_map<int, int64_t> bytes_of_sender;
    classes.ForEachTensor([&](int tensor) {
      ByteSums sums;
      if (input_.MasterOf(tensor) >= 0) {
        sums = MadeAnew(tensor, rank);
      } else {
        const TensorClass& tensor_class = classes.Of(tensor);
        sums = KeptAndZero(tensor, tensor_class);
        for (const Demand& demand : tensor_class.incoming) {
          router.ForEachRouteOf(demand, tensor, [&](const Route& route) {
            const int64_t bytes = NumBytes(route, input_);
            bytes_of_sender[input_.UnionIndexOfSource(route.source_rank)] +=
                bytes;
            sums.moved_bytes += bytes;
          });
        }
      }
      sums.target_bytes = sums.kept_bytes + sums.zero_bytes + sums.moved_bytes +
                          sums.regenerated_bytes;
      StateOf(tensor) += sums;
      bytes_.processes[receiver].sums += sums;
    });
    for (const auto& [sender, bytes] : bytes_of_sender) {
      bytes_.flows.push_back({sender, receiver, bytes});
    }
  }

  ByteSums& StateOf(int tensor) {
    return bytes_.states[state_of_tensor_[tensor]].sums;
  }

  ByteSums MadeAnew(int tensor, int rank) const {
    ByteSums sums;
    input_.target().layout().ForEachRegionOf(
        rank, tensor, [&](const vps::OwnedRegion& region) {
          sums.regenerated_bytes +=
              region.global.num_elements() * input_.item_bytes(tensor);
        });
    if (sums.regenerated_bytes == 0) return sums;
    sums.gathered_bytes =
        GatheredBytes(input_, rank, {tensor, input_.MasterOf(tensor)});
    return sums;
  }

  ByteSums KeptAndZero(int tensor, const TensorClass& tensor_class) const {
    ByteSums sums;
    const int64_t item_bytes = input_.item_bytes(tensor);
    for (const KeptPart& part : tensor_class.kept) {
      const int64_t bytes = part.region.num_elements() * item_bytes;
      sums.kept_bytes += bytes;
      if (part.adopted) sums.adopted_bytes += bytes;
    }
    for (const ZeroPart& part : tensor_class.zeros) {
      sums.zero_bytes += part.region.num_elements() * item_bytes;
    }
    sums.minimal_bytes = tensor_class.lacking_elements * item_bytes;
    return sums;
  }

  const PlanInput& input_;
  std::vector<int> state_of_tensor_;
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
