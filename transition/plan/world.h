// World: a layout and the processes that run it. A process is known for its
// whole life by its id, so that a plan can tell that rank 3 of one world and
// rank 1 of another are the same memory.
#ifndef TRANSITION_PLAN_WORLD_H_
#define TRANSITION_PLAN_WORLD_H_

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
  friend bool operator==(const Process&, const Process&) = default;
};

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
  // The ranks that live in `member`, ascending.
  absl::Span<const int> RanksOfMember(uint32_t member) const;

 private:
  struct Body {
    vps::Layout layout;
    std::vector<Process> processes;
    absl::flat_hash_map<uint64_t, int> rank_of_process;
    absl::flat_hash_map<uint32_t, std::vector<int>> ranks_of_member;
  };

  // Shared by copies; null for the empty world.
  std::shared_ptr<const Body> body_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_WORLD_H_
