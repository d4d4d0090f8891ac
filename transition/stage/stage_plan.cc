#include "transition/stage/stage_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/stage/extent_cut.h"
#include "transition/stage/lines.h"
#include "transition/stage/part_bytes.h"
#include "transition/stage/rank_totals.h"
#include "transition/stage/stage_contents.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

absl::Status CheckOptions(const StageOptions& options) {
  if (options.budget_bytes < kMinBudgetBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("stages: budget_bytes is ", options.budget_bytes,
                     "; it must be at least ", kMinBudgetBytes, " (64 MiB)"));
  }
  if (options.port_staging_bytes < 0 || options.limit_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("stages: port_staging_bytes is ",
                     options.port_staging_bytes, " and limit_bytes is ",
                     options.limit_bytes, "; neither may be negative"));
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
    for (size_t tensor = 0; tensor < moves.item_bytes().size(); ++tensor) {
      largest_item_ = std::max(largest_item_, moves.item_bytes(tensor));
    }
    for (size_t rank = 0; rank < totals_.size(); ++rank) {
      tight_.push_back(TightNeed(totals_[rank], options.port_staging_bytes,
                                 memory[rank].dead_bytes));
      safe_.push_back(SafeNeed(totals_[rank], options.port_staging_bytes,
                               memory[rank].dead_bytes));
    }
  }

  absl::StatusOr<StagePlan> Plan() && {
    plan_.options = options_;
    SetSmallest();
    plan_.mode = options_.mode;
    if (plan_.mode == StageMode::kAuto) {
      plan_.mode = SafeFits() ? StageMode::kSafe : StageMode::kTight;
    }
    const absl::Span<const RankNeed> needs =
        plan_.mode == StageMode::kSafe ? safe_ : tight_;
    const std::vector<int64_t> allowed = Allowed();
    const std::optional<LineCut> cut = CutFor(needs, allowed, largest_item_);
    if (!cut.has_value()) return Refusal(needs, allowed);
    Fill(*cut, allowed);
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

  void SetSmallest() {
    plan_.smallest_budget_bytes = kMinBudgetBytes;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const int64_t least = tight_[rank].LeastBytes(largest_item_);
      plan_.smallest_budget_bytes =
          std::max(plan_.smallest_budget_bytes, least - LargerWorld(rank));
      plan_.smallest_limit_bytes =
          std::max({plan_.smallest_limit_bytes, least, LargerWorld(rank)});
    }
  }

  bool SafeFits() const {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      if (SafeBytes(rank) > limit()) return false;
    }
    return true;
  }

  int64_t SafeBytes(int rank) const {
    return safe_[rank].base_bytes +
           std::min(options_.budget_bytes,
                    safe_[rank].slot_bytes + totals_[rank].relayed_bytes);
  }

  // That each rank may use in the chosen mode.
  std::vector<int64_t> Allowed() const {
    std::vector<int64_t> allowed;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const int64_t bytes = plan_.mode == StageMode::kSafe
                                ? safe_[rank].base_bytes
                                : LargerWorld(rank);
      allowed.push_back(std::min(limit(), bytes + options_.budget_bytes));
    }
    return allowed;
  }

  // Names the rank that lacks most.
  absl::Status Refusal(absl::Span<const RankNeed> needs,
                       absl::Span<const int64_t> allowed) const {
    const auto lacks = [&](int rank) {
      return needs[rank].LeastBytes(largest_item_) - allowed[rank];
    };
    int worst = 0;
    for (int rank = 1; rank < num_ranks(); ++rank) {
      if (lacks(rank) > lacks(worst)) worst = rank;
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        "stages: rank ", worst, " needs ",
        needs[worst].LeastBytes(largest_item_), " bytes in ",
        StageModeName(plan_.mode), " mode (source ",
        totals_[worst].source_bytes, ", target ", totals_[worst].target_bytes,
        ", adopted ", totals_[worst].adopted_bytes, "), and may use ",
        allowed[worst], " (limit ", options_.limit_bytes, ", budget ",
        options_.budget_bytes, "); in tight mode a limit of ",
        plan_.smallest_limit_bytes, " bytes with a budget of ",
        plan_.smallest_budget_bytes, " would do"));
  }

  std::vector<RankRoom> Rooms(absl::Span<const int64_t> allowed) const {
    std::vector<RankRoom> rooms;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const bool tight = plan_.mode == StageMode::kTight;
      rooms.push_back(
          {.resident_bytes = totals_[rank].source_bytes -
                             (tight ? totals_[rank].unused_bytes : 0),
           .allowed_bytes = allowed[rank],
           .port_staging_bytes = options_.port_staging_bytes,
           .dead_bytes = memory_[rank].dead_bytes,
           .frees = tight});
    }
    return rooms;
  }

  PartTable Table(const LineCut& cut) const {
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

  void Fill(const LineCut& cut, absl::Span<const int64_t> allowed) {
    const PartTable table = Table(cut);
    std::vector<RankRoom> rooms = Rooms(allowed);
    const std::vector<int64_t> ends = JoinParts(table, rooms);
    SetPeaks();
    int64_t part = 0;
    std::vector<StageContents> contents = ContentsOf(moves_, lines_, cut, ends);
    for (size_t stage = 0; stage < ends.size(); ++stage) {
      std::vector<PartBytes> bytes(num_ranks());
      for (; part < ends[stage]; ++part) {
        for (int rank = 0; rank < num_ranks(); ++rank) {
          bytes[rank] += table.part(part)[rank];
        }
      }
      AddStage(std::move(contents[stage]), bytes, rooms);
    }
    if (plan_.mode == StageMode::kTight) {
      plan_.unused = UnusedPieces(moves_, memory_);
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
    Stage stage = {.moves = *Moves::Create(
                       num_ranks(),
                       {moves_.item_bytes().begin(), moves_.item_bytes().end()},
                       std::move(contents.moves))};
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
  std::string text = absl::StrCat(
      StageModeName(mode), " mode, ", stages.size(), " stages; peak ",
      worst->peak_bytes, " bytes on rank ", worst - ranks.begin(), " (source ",
      worst->source_bytes, ", target ", worst->target_bytes, ", adopted ",
      worst->adopted_bytes, "; in safe mode ", worst->safe_bytes, ")\n");
  absl::StrAppend(
      &text, "in tight mode ", proved_smallest ? "no less than " : "at most ",
      smallest_limit_bytes, " bytes per rank are needed, or ",
      smallest_budget_bytes, " beyond the larger of source and target\n");
  return text;
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
