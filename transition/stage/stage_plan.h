// Stages: moves cut into parts that run one after the other, so that memory
// suffices. What is in flight at once fits a byte budget per rank. There are
// two modes.
//
//   safe   the old state stays until commit, so any failure falls back to it.
//          Peak: source + target - what is adopted + staging.
//   tight  a source piece is given back as soon as all who need it have it.
//          Peak: max(source, target) + budget, on each rank.
//
// Tight mode's promise holds for memory that is given back by extents, by
// theorem (docs/design/0004-stages.md). Where an allocation can only be given
// back as a whole, the order of allocations decides; then the least peak that
// was found is used, and it is said whether a lower one may exist.
//
// Pure, in integers, the same on every rank.
//
//   ASSIGN_OR_RETURN(
//       StagePlan plan,
//       PlanStages(moves, memory, {.limit_bytes = int64_t{80} << 30}));
//   std::cout << plan.DebugString();
#ifndef TRANSITION_STAGE_STAGE_PLAN_H_
#define TRANSITION_STAGE_STAGE_PLAN_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/program/program.h"
#include "transition/schedule/moves.h"
#include "transition/stage/world_memory.h"

namespace dynatrain::transition {

enum class StageMode {
  kAuto = 0,  // safe if its peak is within the limit on all ranks, else tight
  kSafe = 1,
  kTight = 2,
};

// "auto", "safe", "tight".
const char* StageModeName(StageMode mode);

// Less would cut plans so small that messages cost more than bytes.
inline constexpr int64_t kMinBudgetBytes = int64_t{64} << 20;

struct StageOptions {
  StageMode mode = StageMode::kAuto;
  // What a rank may use beyond max(source, target) in tight mode; what its
  // staging may take in safe mode.
  int64_t budget_bytes = int64_t{256} << 20;
  // What packing needs at most for what a rank sends in a stage, and unpacking
  // as much again: the slots of a transport. Taken to be needed for all
  // bytes, strided or not.
  int64_t port_staging_bytes = int64_t{16} << 20;
  // Of source, target and staging together, on each rank. 0: none.
  int64_t limit_bytes = 0;

  friend bool operator==(const StageOptions&, const StageOptions&) = default;
};

// Memory of one rank.
struct RankPiece {
  int rank = 0;
  Piece piece;
  friend auto operator<=>(const RankPiece&, const RankPiece&) = default;
  friend bool operator==(const RankPiece&, const RankPiece&) = default;
};

struct Stage {
  Moves moves;
  // Target pieces that get room before the moves beside those that are written,
  // since their allocation is made as a whole. Ascending.
  std::vector<RankPiece> makes;
  // Source pieces that are given back after the moves. Ascending.
  std::vector<RankPiece> frees;
  // By rank, memory from the allocator for packing and unpacking.
  std::vector<int64_t> staging_bytes;
  // By rank, the most it has while the stage runs.
  std::vector<int64_t> peak_bytes;
};

struct RankPeak {
  int64_t source_bytes = 0;
  int64_t target_bytes = 0;
  int64_t adopted_bytes = 0;  // of both
  int64_t safe_bytes = 0;     // peak in safe mode
  int64_t peak_bytes = 0;     // of this plan, replayed
  int64_t allowed_bytes = 0;  // by budget and limit
  int64_t dead_bytes = 0;     // RankMemory::dead_bytes
  friend bool operator==(const RankPeak&, const RankPeak&) = default;
};

struct StagePlan {
  StageMode mode = StageMode::kSafe;
  StageOptions options;
  // Source pieces that nobody needs, given back before the first stage (tight).
  std::vector<RankPiece> unused;
  std::vector<Stage> stages;  // at least one
  std::vector<RankPeak> ranks;
  // Of tight mode: the least budget (kMinBudgetBytes at least) without a limit,
  // and the least limit with any budget.
  int64_t smallest_budget_bytes = 0;
  int64_t smallest_limit_bytes = 0;
  // No plan does with less than these. Where they are below the smallest, those
  // are the least that was found: an order that needs less may exist.
  int64_t budget_bound_bytes = 0;
  int64_t limit_bound_bytes = 0;
  bool proved_smallest() const {
    return smallest_budget_bytes == budget_bound_bytes;
  }

  int64_t PeakBytes() const;  // of the rank that needs most
  // Mode and stages in a line, then what the rank with the highest peak needs.
  std::string DebugString() const;
};

// Memory i is that of rank i. Returns kInvalidArgument naming the field if an
// option is out of range; naming the rank if its memory does not fit the moves
// (they write what is not in its target or read what is not in its source, or
// buffers are not as many as pieces); or if a rank passes on what it received
// where buffers count as a whole. Returns kResourceExhausted naming the rank,
// its numbers, and the smallest budget and limit if there is no plan in the
// mode. REQUIRES: of a tensor's copy on a rank all is adopted, or nothing.
absl::StatusOr<StagePlan> PlanStages(const Moves& moves,
                                     const WorldMemory& memory,
                                     const StageOptions& options);

inline std::ostream& operator<<(std::ostream& out, const StagePlan& plan) {
  return out << plan.DebugString();
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_STAGE_PLAN_H_
