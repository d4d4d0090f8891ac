#include "transition/stage/staged_programs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "transition/schedule/programs.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

// The channel of each schedule of a stage. Those point to point have the same
// in all stages, their place; a collective's is of its stage alone, so that its
// lanes are free for others behind it.
struct StageChannels {
  StageChannels(absl::Span<const Schedule> schedules, int& next_collective) {
    for (const Schedule& it : schedules) {
      is_collective.push_back(!it.parcels.empty() &&
                              it.parcels.front().stream != 0);
      of_schedule.push_back(is_collective.back()
                                ? next_collective++
                                : static_cast<int>(of_schedule.size()));
    }
  }

  std::vector<int> of_schedule;
  std::vector<bool> is_collective;  // by schedule
};

// Programs count lanes and windows in each stage from the beginning. Over all
// stages a channel keeps its lanes, and windows ascend.
class RankEmitter {
 public:
  RankEmitter(int rank, const Fingerprint& plan_digest)
      : program_{.rank = rank, .plan_digest = plan_digest} {}

  std::vector<Operation>& operations() { return program_.operations; }
  Program Finish() && { return std::move(program_); }

  // Moves into it make no room.
  void MakeWhole(const Piece& piece, int64_t bytes) {
    whole_[{piece.tensor, piece.copy}].push_back(piece.region);
    operations().push_back(Allocate({piece}, bytes));
  }

  void Append(std::vector<Operation> stage, const StageChannels& channels,
              int first_window) {
    const std::map<int, int> schedules = SchedulesOf(stage);
    const std::map<int, int> lanes = LanesOf(schedules, channels);
    for (Operation& it : stage) {
      if (it.kind == OperationKind::kAllocate && IsMade(it.pieces[0])) continue;
      if (it.kind == OperationKind::kGroupBegin) it.window += first_window;
      if (it.lane > 0) {
        const auto lane = lanes.find((it.lane - 1) / 2);
        // Groups without messages, if all parcels are less than an element.
        if (lane == lanes.end()) continue;
        it.lane = lane->second + (it.lane - 1) % 2;
      }
      if (IsMessage(it)) it.channel = channels.of_schedule[it.channel];
      operations().push_back(std::move(it));
    }
  }

 private:
  static bool IsMessage(const Operation& it) {
    return it.kind == OperationKind::kSend ||
           it.kind == OperationKind::kReceive;
  }

  // Lanes 1 + 2 k and 2 + 2 k are of one schedule: its place by k.
  static std::map<int, int> SchedulesOf(absl::Span<const Operation> stage) {
    std::map<int, int> schedules;
    for (const Operation& it : stage) {
      if (IsMessage(it)) schedules[(it.lane - 1) / 2] = it.channel;
    }
    return schedules;
  }

  // The first of the two lanes by k. Collectives, which come last, take those
  // that others don't have so far.
  std::map<int, int> LanesOf(const std::map<int, int>& schedules,
                             const StageChannels& channels) {
    std::map<int, int> lanes;
    int collectives = 0;
    for (const auto& [k, schedule] : schedules) {
      const int lasting = static_cast<int>(lasting_.size());
      const int number =
          channels.is_collective[schedule]
              ? lasting + collectives++
              : lasting_.try_emplace(schedule, lasting).first->second;
      lanes[k] = 1 + 2 * number;
    }
    return lanes;
  }

  bool IsMade(const Piece& piece) const {
    const auto it = whole_.find({piece.tensor, piece.copy});
    if (it == whole_.end()) return false;
    return std::any_of(
        it->second.begin(), it->second.end(),
        [&](const vps::Box& box) { return box.Contains(piece.region); });
  }

  Program program_;
  std::map<int, int> lasting_;  // pairs of lanes by channel, in all stages
  std::map<std::pair<int, int>, std::vector<vps::Box>> whole_;
};

class StagesEmitter {
 public:
  StagesEmitter(const StagePlan& plan, const Fingerprint& plan_digest)
      : plan_(plan), plan_digest_(plan_digest) {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      ranks_.emplace_back(rank, plan_digest);
    }
    for (const Stage& stage : plan.stages) {
      for (const Move& move : stage.moves.all()) {
        buffer_ = std::max(buffer_, move.stream + 1);
      }
    }
  }

  std::vector<Program> Make(
      absl::Span<const std::vector<Schedule>> schedules) && {
    for (const std::vector<Schedule>& it : schedules) {
      next_collective_ =
          std::max(next_collective_, static_cast<int>(it.size()));
    }
    FreeAll(plan_.unused);
    for (size_t i = 0; i < plan_.stages.size(); ++i) {
      if (i > 0) JoinAll();
      AddStage(plan_.stages[i], schedules[i]);
    }
    std::vector<Program> programs;
    for (RankEmitter& it : ranks_) programs.push_back(std::move(it).Finish());
    return programs;
  }

 private:
  int num_ranks() const { return plan_.stages[0].moves.num_ranks(); }

  void AddStage(const Stage& stage, absl::Span<const Schedule> schedules) {
    for (const RankPiece& it : stage.makes) {
      ranks_[it.rank].MakeWhole(it.piece, stage.moves.BytesOf(it.piece));
    }
    ForEachStaging(stage, Reserve);
    std::vector<Program> programs =
        MakePrograms(stage.moves, schedules, plan_digest_);
    const StageChannels channels(schedules, next_collective_);
    for (int rank = 0; rank < num_ranks(); ++rank) {
      ranks_[rank].Append(std::move(programs[rank].operations), channels,
                          first_window_);
    }
    int windows = 0;
    for (const Schedule& it : schedules) {
      windows = std::max(windows, it.num_windows());
    }
    first_window_ += windows;
    // What is freed has been read, and what staging held has been unpacked.
    JoinAll();
    FreeAll(stage.frees);
    ForEachStaging(stage, Release);
  }

  void ForEachStaging(const Stage& stage, Operation (*make)(int, int64_t)) {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      if (stage.staging_bytes[rank] == 0) continue;
      ranks_[rank].operations().push_back(
          make(buffer_, stage.staging_bytes[rank]));
    }
  }

  void FreeAll(absl::Span<const RankPiece> pieces) {
    for (const RankPiece& it : pieces) {
      ranks_[it.rank].operations().push_back(
          Free({it.piece}, plan_.stages[0].moves.BytesOf(it.piece)));
    }
  }

  void JoinAll() {
    for (RankEmitter& it : ranks_) it.operations().push_back(Join());
  }

  const StagePlan& plan_;
  const Fingerprint& plan_digest_;
  std::vector<RankEmitter> ranks_;
  int first_window_ = 0;
  int next_collective_ = 0;  // its channel, above all that last
  int buffer_ = 1;           // of staging; those before are streams'
};

}  // namespace

std::vector<Program> MakeStagedPrograms(
    const StagePlan& plan, absl::Span<const std::vector<Schedule>> schedules,
    const Fingerprint& plan_digest) {
  return StagesEmitter(plan, plan_digest).Make(schedules);
}

}  // namespace dynatrain::transition
