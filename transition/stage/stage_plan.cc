#include "transition/stage/stage_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/schedule/traffic.h"
#include "transition/stage/extent_cut.h"
#include "transition/stage/lines.h"
#include "transition/stage/part_bytes.h"
#include "transition/stage/rank_totals.h"
#include "transition/stage/stage_contents.h"
#include "transition/stage/task_order.h"
#include "transition/stage/whole_orders.h"
#include "transition/stage/whole_tasks.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

absl::Status CheckOptions(const StageOptions& options) {
  if (options.budget_bytes < kMinBudgetBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("stages: budget_bytes is ", options.budget_bytes,
                     "; it must be at least ", kMinBudgetBytes, " (64 MiB)"));
  }
  // So that sums with what ranks hold don't overflow.
  for (const int64_t bytes : {options.budget_bytes, options.port_staging_bytes,
                              options.limit_bytes}) {
    if (bytes >= 0 && bytes <= kMaxTrafficBytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("stages: budget_bytes is ", options.budget_bytes,
                     ", port_staging_bytes ", options.port_staging_bytes,
                     " and limit_bytes ", options.limit_bytes,
                     "; each must be from 0 to 2^52"));
  }
  return absl::OkStatus();
}

// Tasks that allocations force are not cut as relays would have to be.
absl::Status CheckNothingIsPassedOn(const Moves& moves) {
  for (const Move& move : moves.all()) {
    if (move.space == Space::kSource && move.into == Space::kTarget) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "stages: rank ", move.receiver, " gets from rank ", move.sender,
        " what is passed on, while allocations count as a whole; cut the plan "
        "into stages first, then find collectives in each"));
  }
  return absl::OkStatus();
}

class Planner {
 public:
  Planner(const Moves& moves, const WorldMemory& memory,
          const StageOptions& options, const Lines& lines,
          std::vector<RankTotals> totals)
      : moves_(moves),
        memory_(memory),
        options_(options),
        lines_(lines),
        totals_(std::move(totals)) {
    for (const int64_t bytes : moves.item_bytes()) {
      largest_item_ = std::max(largest_item_, bytes);
    }
    for (int rank = 0; rank < num_ranks(); ++rank) {
      tight_.push_back(TightNeed(totals_[rank], options.port_staging_bytes,
                                 memory[rank].dead_bytes));
      safe_.push_back(SafeNeed(totals_[rank], options.port_staging_bytes,
                               memory[rank].dead_bytes));
    }
  }

  absl::StatusOr<StagePlan> Plan() && {
    plan_.options = options_;
    plan_.mode = options_.mode;
    if (plan_.mode == StageMode::kAuto) {
      plan_.mode = SafeCut().has_value() ? StageMode::kSafe : StageMode::kTight;
    }
    if (AnyWhole(memory_)) {
      RETURN_IF_ERROR(CheckNothingIsPassedOn(moves_));
      FindWholeOrders();
    }
    SetSmallest();
    if (plan_.mode == StageMode::kTight && whole_.has_value()) {
      RETURN_IF_ERROR(PlanWhole());
    } else {
      RETURN_IF_ERROR(PlanByExtents());
    }
    return std::move(plan_);
  }

 private:
  int num_ranks() const { return static_cast<int>(totals_.size()); }
  int64_t limit() const {
    return options_.limit_bytes == 0 ? kNoLimit : options_.limit_bytes;
  }
  int64_t LargerWorld(int rank) const {
    return std::max(totals_[rank].source_bytes, totals_[rank].target_bytes);
  }

  std::optional<LineCut> SafeCut() const {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      if (SafeBytes(rank) > limit()) return std::nullopt;
    }
    return CutFor(safe_, AllowedIn(StageMode::kSafe), largest_item_);
  }
  std::optional<LineCut> TightCut() const {
    // With a limit below what there is no cut would help.
    for (int rank = 0; rank < num_ranks(); ++rank) {
      if (LargerWorld(rank) > limit()) return std::nullopt;
    }
    return CutFor(tight_, AllowedIn(StageMode::kTight), largest_item_);
  }

  int64_t SafeBytes(int rank) const {
    return safe_[rank].base_bytes +
           std::min(options_.budget_bytes,
                    safe_[rank].slot_bytes + totals_[rank].relayed_bytes);
  }

  std::vector<int64_t> AllowedIn(StageMode mode) const {
    std::vector<int64_t> allowed;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const int64_t bytes =
          mode == StageMode::kSafe ? safe_[rank].base_bytes : LargerWorld(rank);
      allowed.push_back(std::min(limit(), bytes + options_.budget_bytes));
    }
    return allowed;
  }

  std::vector<RankRoom> Rooms(StageMode mode) const {
    const bool tight = mode == StageMode::kTight;
    const std::vector<int64_t> allowed = AllowedIn(mode);
    std::vector<RankRoom> rooms;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const RankTotals& it = totals_[rank];
      int64_t resident = it.source_bytes;
      if (tight) {
        resident = whole_.has_value() ? whole_->problem.resident[rank]
                                      : resident - it.unused_bytes;
      }
      rooms.push_back({.resident_bytes = resident,
                       .allowed_bytes = allowed[rank],
                       .port_staging_bytes = options_.port_staging_bytes,
                       .dead_bytes = memory_[rank].dead_bytes,
                       .frees = tight});
    }
    return rooms;
  }

  void FindWholeOrders() {
    whole_ = MakeWholeTasks(moves_, lines_, memory_);
    WholeRooms rooms = {.rooms = Rooms(StageMode::kTight),
                        .allowed_bytes = AllowedIn(StageMode::kTight)};
    for (int rank = 0; rank < num_ranks(); ++rank) {
      rooms.slot_bytes.push_back(tight_[rank].slot_bytes);
      rooms.larger_bytes.push_back(LargerWorld(rank));
    }
    orders_ = FindOrders(moves_, *whole_, rooms);
  }

  void SetSmallest() {
    const std::vector<int64_t> least = TightLeast();
    int64_t budget = whole_.has_value() ? orders_.least_budget_bytes : 0;
    int64_t limit = whole_.has_value() ? orders_.least_limit_bytes : 0;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      limit = std::max(limit, LargerWorld(rank));
      if (whole_.has_value()) continue;
      budget = std::max(budget, least[rank] - LargerWorld(rank));
      limit = std::max(limit, least[rank]);
    }
    plan_.smallest_budget_bytes = std::max(budget, kMinBudgetBytes);
    plan_.smallest_limit_bytes = limit;
    plan_.proved_smallest = plan_.smallest_budget_bytes == kMinBudgetBytes ||
                            (whole_.has_value() && orders_.proved);
  }

  absl::Status PlanWhole() {
    const std::vector<int64_t> allowed = AllowedIn(StageMode::kTight);
    const WholeOrder& order = orders_.BestFor(allowed);
    std::vector<int64_t> needs = order.peak_bytes;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      needs[rank] = std::max(needs[rank], LargerWorld(rank));
    }
    if (LargestExcess(needs, allowed) > 0) return Refusal(needs);
    const PartTable table = TableOf(moves_, *whole_, order.tasks);
    const std::vector<int64_t> ends =
        JoinParts(table, Rooms(StageMode::kTight));
    AddStages(table, ends, ContentsOf(moves_, *whole_, order.tasks, ends));
    plan_.unused = whole_->unused;
    return absl::OkStatus();
  }

  absl::Status PlanByExtents() {
    const bool safe = plan_.mode == StageMode::kSafe;
    const std::optional<LineCut> cut = safe ? SafeCut() : TightCut();
    if (!cut.has_value()) return Refusal(safe ? SafeLeast() : TightLeast());
    const PartTable table = TableWithZeros(*cut);
    const std::vector<int64_t> ends = JoinParts(table, Rooms(plan_.mode));
    AddStages(table, ends, ContentsOf(moves_, lines_, *cut, ends));
    if (plan_.mode == StageMode::kTight) {
      plan_.unused = UnusedPieces(moves_, memory_);
    }
    return absl::OkStatus();
  }

  // Zeros are behind the last part: by then all is freed that will be.
  PartTable TableWithZeros(const LineCut& cut) const {
    const bool zeros =
        std::any_of(totals_.begin(), totals_.end(),
                    [](const RankTotals& it) { return it.zero_bytes > 0; });
    PartTable table = TableOf(lines_, cut, moves_.item_bytes(), num_ranks(),
                              cut.num_parts + (zeros ? 1 : 0));
    for (int rank = 0; zeros && rank < num_ranks(); ++rank) {
      table.at(cut.num_parts, rank).made = totals_[rank].zero_bytes;
    }
    return table;
  }

  std::vector<int64_t> SafeLeast() const {
    std::vector<int64_t> least;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      least.push_back(
          std::max(SafeBytes(rank), safe_[rank].LeastBytes(largest_item_)));
    }
    return least;
  }
  std::vector<int64_t> TightLeast() const {
    std::vector<int64_t> least;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      least.push_back(
          std::max(LargerWorld(rank), tight_[rank].LeastBytes(largest_item_)));
    }
    return least;
  }

  // Names the rank that lacks most of what it needs.
  absl::Status Refusal(absl::Span<const int64_t> needs) const {
    const std::vector<int64_t> allowed = AllowedIn(plan_.mode);
    int worst = 0;
    for (int rank = 1; rank < num_ranks(); ++rank) {
      if (needs[rank] - allowed[rank] > needs[worst] - allowed[worst]) {
        worst = rank;
      }
    }
    const RankTotals& it = totals_[worst];
    return absl::ResourceExhaustedError(absl::StrCat(
        "stages: rank ", worst, " needs ", needs[worst], " bytes in ",
        StageModeName(plan_.mode), " mode (source ", it.source_bytes,
        ", target ", it.target_bytes, ", adopted ", it.adopted_bytes,
        ") and may use ", allowed[worst], " (limit ", options_.limit_bytes,
        ", budget ", options_.budget_bytes,
        "); the smallest budget for tight mode is ",
        plan_.smallest_budget_bytes, ", the smallest limit ",
        plan_.smallest_limit_bytes));
  }

  void AddStages(const PartTable& table, absl::Span<const int64_t> ends,
                 std::vector<StageContents> contents) {
    SetPeaks();
    std::vector<RankRoom> rooms = Rooms(plan_.mode);
    int64_t part = 0;
    for (size_t stage = 0; stage < ends.size(); ++stage) {
      std::vector<PartBytes> bytes(num_ranks());
      for (; part < ends[stage]; ++part) {
        for (int rank = 0; rank < num_ranks(); ++rank) {
          bytes[rank] += table.part(part)[rank];
        }
      }
      AddStage(std::move(contents[stage]), bytes, rooms);
    }
  }

  // Before the first stage.
  void SetPeaks() {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const RankTotals& it = totals_[rank];
      plan_.ranks.push_back({.source_bytes = it.source_bytes,
                             .target_bytes = it.target_bytes,
                             .adopted_bytes = it.adopted_bytes,
                             .safe_bytes = SafeBytes(rank),
                             .peak_bytes = it.source_bytes});
    }
  }

  void AddStage(StageContents contents, absl::Span<const PartBytes> bytes,
                std::vector<RankRoom>& rooms) {
    // Parts of moves that Create accepted.
    Stage stage = {.moves = *moves_.With(std::move(contents.moves)),
                   .makes = std::move(contents.makes)};
    if (plan_.mode == StageMode::kTight) {
      stage.frees = std::move(contents.frees);
    }
    for (int rank = 0; rank < num_ranks(); ++rank) {
      stage.staging_bytes.push_back(rooms[rank].StagingBytes(bytes[rank]));
      int64_t& peak = plan_.ranks[rank].peak_bytes;
      peak = std::max(peak, rooms[rank].PeakBytes(bytes[rank]));
      rooms[rank].Finish(bytes[rank]);
    }
    plan_.stages.push_back(std::move(stage));
  }

  const Moves& moves_;
  const WorldMemory& memory_;
  const StageOptions& options_;
  const Lines& lines_;
  const std::vector<RankTotals> totals_;
  std::vector<RankNeed> tight_;
  std::vector<RankNeed> safe_;
  int64_t largest_item_ = 1;
  std::optional<WholeTasks> whole_;  // if any allocation counts as a whole
  WholeOrders orders_;               // of its tasks
  StagePlan plan_;
};

}  // namespace

const char* StageModeName(StageMode mode) {
  switch (mode) {
    case StageMode::kAuto:
      return "auto";
    case StageMode::kSafe:
      return "safe";
    case StageMode::kTight:
      return "tight";
  }
  return "unknown";
}

int64_t StagePlan::PeakBytes() const {
  int64_t peak = 0;
  for (const RankPeak& it : ranks) peak = std::max(peak, it.peak_bytes);
  return peak;
}

std::string StagePlan::DebugString() const {
  const auto worst = std::max_element(ranks.begin(), ranks.end(),
                                      [](const RankPeak& a, const RankPeak& b) {
                                        return a.peak_bytes < b.peak_bytes;
                                      });
  return absl::StrCat(StageModeName(mode), " mode, ", stages.size(),
                      stages.size() == 1 ? " stage" : " stages", "; peak ",
                      worst->peak_bytes, " bytes on rank ",
                      worst - ranks.begin(), " (source ", worst->source_bytes,
                      ", target ", worst->target_bytes, ", adopted ",
                      worst->adopted_bytes, "; in safe mode ",
                      worst->safe_bytes, ")\ntight mode needs a budget of ",
                      smallest_budget_bytes, proved_smallest ? "" : " or less",
                      ", or a limit of ", smallest_limit_bytes, "\n");
}

absl::StatusOr<StagePlan> PlanStages(const Moves& moves,
                                     const WorldMemory& memory,
                                     const StageOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  const Lines lines = MakeLines(moves);
  ASSIGN_OR_RETURN(std::vector<RankTotals> totals,
                   TotalsOf(moves, lines, memory));
  return Planner(moves, memory, options, lines, std::move(totals)).Plan();
}

}  // namespace dynatrain::transition
