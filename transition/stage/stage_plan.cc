#include "transition/stage/stage_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/schedule/traffic.h"
#include "transition/stage/extent_cut.h"
#include "transition/stage/extent_table.h"
#include "transition/stage/lines.h"
#include "transition/stage/order_problem.h"
#include "transition/stage/part_bytes.h"
#include "transition/stage/rank_totals.h"
#include "transition/stage/stage_contents.h"
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
    if (InExtents()) {
      RETURN_IF_ERROR(PlanInExtents());
      return std::move(plan_);
    }
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
      rooms.larger_bytes.push_back(LargerWorld(rank));
    }
    orders_ = FindOrders(moves_, *whole_, rooms);
  }

  void SetSmallest() {
    LeastBytes budget = {0, 0};
    LeastBytes limit = {0, 0};
    if (whole_.has_value()) {
      budget = orders_.budget;
      limit = orders_.limit;
    }
    const std::vector<int64_t> least = TightLeast();
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const int64_t larger = LargerWorld(rank);
      limit.found = std::max(limit.found, larger);
      limit.bound = std::max(limit.bound, larger);
      if (whole_.has_value()) continue;
      budget.found = std::max(budget.found, least[rank] - larger);
      limit.found = std::max(limit.found, least[rank]);
    }
    plan_.smallest_budget_bytes = std::max(budget.found, kMinBudgetBytes);
    plan_.budget_bound_bytes = std::max(budget.bound, kMinBudgetBytes);
    plan_.smallest_limit_bytes = limit.found;
    plan_.limit_bound_bytes = limit.bound;
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
    AddStages(StageSums(table, ends),
              ContentsOf(moves_, *whole_, order.tasks, ends),
              Rooms(StageMode::kTight));
    plan_.unused = whole_->unused;
    return absl::OkStatus();
  }

  absl::Status PlanByExtents() {
    const bool safe = plan_.mode == StageMode::kSafe;
    const std::optional<LineCut> cut = safe ? SafeCut() : TightCut();
    if (!cut.has_value()) return Refusal(safe ? SafeLeast() : TightLeast());
    const PartTable table = TableWithZeros(*cut);
    const std::vector<int64_t> ends = JoinParts(table, Rooms(plan_.mode));
    AddStages(StageSums(table, ends), ContentsOf(moves_, lines_, *cut, ends),
              Rooms(plan_.mode));
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

  bool InExtents() const {
    return std::any_of(
        memory_.begin(), memory_.end(),
        [](const RankMemory& it) { return it.extent_bytes > 1; });
  }

  // No theorem: cuts are replayed until one fits.
  absl::Status PlanInExtents() {
    const LineCut finest = FinestCut();
    SetSmallestInExtents(finest);
    std::vector<int64_t> needs;
    if (options_.mode != StageMode::kTight) {
      plan_.mode = StageMode::kSafe;
      const std::optional<LineCut> cut = SafeCut();
      if (TryCut(cut.value_or(finest), needs)) return absl::OkStatus();
      if (options_.mode == StageMode::kSafe) return Refusal(needs);
    }
    plan_.mode = StageMode::kTight;
    if (const std::optional<LineCut> cut = TightCut(); cut.has_value()) {
      for (int64_t parts = cut->num_parts;
           parts <= 8 * cut->num_parts && parts < finest.num_parts;
           parts *= 2) {
        if (TryCut({parts, cut->unit_bytes}, needs)) return absl::OkStatus();
      }
    }
    return TryCut(finest, needs) ? absl::OkStatus() : Refusal(needs);
  }

  // Whatever is allowed, so that what is smallest does.
  LineCut FinestCut() const {
    constexpr int64_t kPartBytes = int64_t{16} << 20;
    constexpr int64_t kMostParts = 1024;
    int64_t held = 0;
    for (const RankTotals& it : totals_) {
      held = std::max(held, std::min(it.freed_bytes, it.made_bytes));
    }
    return {std::clamp<int64_t>(held / kPartBytes, 1, kMostParts), 256 << 10};
  }

  void SetSmallestInExtents(const LineCut& finest) {
    const ExtentTable extents =
        ExtentTableOf(moves_, lines_, memory_, finest, /*frees=*/true);
    std::vector<int64_t> ends(extents.table.num_parts());
    std::iota(ends.begin(), ends.end(), 1);
    const std::vector<int64_t> peaks =
        PeaksOfStages(extents, StageSums(extents.table, ends),
                      RoomsIn(extents, StageMode::kTight));
    plan_.budget_bound_bytes = kMinBudgetBytes;
    plan_.smallest_budget_bytes = kMinBudgetBytes;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      plan_.smallest_budget_bytes = std::max(plan_.smallest_budget_bytes,
                                             peaks[rank] - LargerWorld(rank));
      plan_.smallest_limit_bytes =
          std::max(plan_.smallest_limit_bytes, peaks[rank]);
      plan_.limit_bound_bytes =
          std::max(plan_.limit_bound_bytes, LargerWorld(rank));
    }
  }

  std::vector<RankRoom> RoomsIn(const ExtentTable& extents,
                                StageMode mode) const {
    std::vector<RankRoom> rooms = Rooms(mode);
    for (int rank = 0; rank < num_ranks(); ++rank) {
      rooms[rank].resident_bytes = extents.resident_bytes[rank];
    }
    return rooms;
  }

  std::vector<int64_t> PeaksOfStages(
      const ExtentTable& extents, absl::Span<const std::vector<PartBytes>> sums,
      std::vector<RankRoom> rooms) const {
    std::vector<int64_t> peaks = extents.source_bytes;
    for (const std::vector<PartBytes>& stage : sums) {
      for (int rank = 0; rank < num_ranks(); ++rank) {
        peaks[rank] = std::max(peaks[rank], rooms[rank].PeakBytes(stage[rank]));
        rooms[rank].Finish(stage[rank]);
      }
    }
    return peaks;
  }

  // The plan, if it fits in the mode; else what it needs.
  bool TryCut(const LineCut& cut, std::vector<int64_t>& needs) {
    const bool tight = plan_.mode == StageMode::kTight;
    const ExtentTable extents =
        ExtentTableOf(moves_, lines_, memory_, cut, tight);
    const std::vector<RankRoom> rooms = RoomsIn(extents, plan_.mode);
    const std::vector<int64_t> ends = JoinParts(extents.table, rooms);
    const auto sums = StageSums(extents.table, ends);
    needs = PeaksOfStages(extents, sums, rooms);
    if (LargestExcess(needs, AllowedIn(plan_.mode)) > 0) return false;
    AddStages(sums, ContentsOf(moves_, lines_, cut, ends), rooms);
    for (int rank = 0; rank < num_ranks(); ++rank) {
      plan_.ranks[rank].peak_bytes = needs[rank];
    }
    if (tight) plan_.unused = UnusedPieces(moves_, memory_);
    return true;
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

  void AddStages(absl::Span<const std::vector<PartBytes>> sums,
                 std::vector<StageContents> contents,
                 std::vector<RankRoom> rooms) {
    SetPeaks();
    for (size_t stage = 0; stage < sums.size(); ++stage) {
      AddStage(std::move(contents[stage]), sums[stage], rooms);
    }
  }

  // Before the first stage.
  void SetPeaks() {
    const std::vector<int64_t> allowed = AllowedIn(plan_.mode);
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const RankTotals& it = totals_[rank];
      plan_.ranks.push_back({.source_bytes = it.source_bytes,
                             .target_bytes = it.target_bytes,
                             .adopted_bytes = it.adopted_bytes,
                             .safe_bytes = SafeBytes(rank),
                             .peak_bytes = it.source_bytes,
                             .allowed_bytes = allowed[rank],
                             .dead_bytes = memory_[rank].dead_bytes});
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
      stage.peak_bytes.push_back(rooms[rank].PeakBytes(bytes[rank]));
      int64_t& peak = plan_.ranks[rank].peak_bytes;
      peak = std::max(peak, stage.peak_bytes.back());
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
                      smallest_budget_bytes, ", or a limit of ",
                      smallest_limit_bytes, "; no plan does with less than ",
                      budget_bound_bytes, " or ", limit_bound_bytes, "\n");
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
