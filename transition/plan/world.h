// World: a layout and the processes that run it. A process is known for its
// whole life by its id, so that a plan can tell that rank 3 of one world and
// rank 1 of another are the same memory.
#ifndef TRANSITION_PLAN_WORLD_H_
#define TRANSITION_PLAN_WORLD_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {

struct Process {
  uint64_t id = 0;      // never 0
  uint32_t member = 0;  // serial of the pod that it lives in
  // Where it runs, as far as that is known; 0: it isn't. Devices and nodes are
  // numbered over the whole cluster. Processes of one rail reach each other
  // over one switch though they are on different nodes.
  uint32_t device = 0;
  uint32_t node = 0;
  uint32_t rail = 0;
  friend bool operator==(const Process&, const Process&) = default;
};

// What processes can have in common, the nearest first. Whoever has a choice
// gets what it lacks from the first of these that has it.
enum class Tier { kDevice, kMember, kNode, kRail, kAnywhere };
inline constexpr Tier kTiers[] = {Tier::kDevice, Tier::kMember, Tier::kNode,
                                  Tier::kRail, Tier::kAnywhere};

// Those of one group are equally near. nullopt if it isn't known: then the
// process is near nobody in that tier.
std::optional<uint32_t> GroupOf(const Process& process, Tier tier);

inline std::ostream& operator<<(std::ostream& out, const Process& process) {
  return out << "process " << process.id << " of member " << process.member;
}

class World {
 public:
  // Generation 0: no ranks, the source of the first start.
  World() = default;

  // Rank = position in `processes`. Returns kInvalidArgument naming the rank
  // if there are not as many processes as ranks in the layout, an id is 0, or
  // two are equal.
  static absl::StatusOr<World> Create(vps::Layout layout,
                                      std::vector<Process> processes);

  bool empty() const { return body_ == nullptr; }
  int size() const {
    return empty() ? 0 : static_cast<int>(body_->processes.size());
  }
  // REQUIRES: !empty().
  const vps::Layout& layout() const { return body_->layout; }
  // REQUIRES: 0 <= rank < size().
  const Process& process(int rank) const { return body_->processes[rank]; }
  absl::Span<const Process> processes() const {
    if (empty()) return {};
    return body_->processes;
  }
  // The rank of the process; nullopt if it is not in this world.
  std::optional<int> RankOf(uint64_t process_id) const;
  // The ranks of a group, ascending. REQUIRES: tier != Tier::kAnywhere.
  absl::Span<const int> RanksIn(Tier tier, uint32_t group) const;

 private:
  struct Body {
    vps::Layout layout;
    std::vector<Process> processes;
    absl::flat_hash_map<uint64_t, int> rank_of_process;
    // By tier.
    std::array<absl::flat_hash_map<uint32_t, std::vector<int>>,
               static_cast<size_t>(Tier::kAnywhere)>
        ranks_of_group;
  };

  // Shared by copies; null for the empty world.
  std::shared_ptr<const Body> body_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_WORLD_H_
