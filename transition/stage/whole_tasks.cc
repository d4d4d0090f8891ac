#include "transition/stage/whole_tasks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/numeric/int128.h"
#include "transition/stage/rank_totals.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// What is in no allocation that counts as a whole is cut in so many tasks.
constexpr int kLineParts = 64;

// Fractions of lines are in units of 1 / kOne.
constexpr int64_t kOne = int64_t{1} << 20;

enum class TaskKind { kFrom = 0, kInto = 1, kPart = 2 };

// Kind, rank and allocation; kPart: 0 and the part.
using TaskKey = std::tuple<TaskKind, int, int>;

// The allocations of one world, by what lies in them.
class BufferIndex {
 public:
  BufferIndex(const std::vector<Piece>& pieces,
              const std::vector<int>& buffers) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i] == kByExtents) continue;
      held_[{pieces[i].tensor, pieces[i].copy}].push_back(
          {pieces[i].region, buffers[i]});
    }
  }

  // kByExtents if the region is in none.
  int BufferOf(int tensor, int copy, const Box& region) const {
    const auto it = held_.find({tensor, copy});
    if (it == held_.end()) return kByExtents;
    for (const auto& [box, buffer] : it->second) {
      if (box.Contains(region)) return buffer;
    }
    return kByExtents;
  }

 private:
  std::map<std::pair<int, int>, std::vector<std::pair<Box, int>>> held_;
};

class Builder {
 public:
  Builder(const Moves& moves, const Lines& lines, const WorldMemory& memory)
      : moves_(moves),
        lines_(lines),
        memory_(memory),
        places_(lines.members.size()) {
    for (const RankMemory& it : memory) {
      source_.emplace_back(it.source, it.source_buffers);
      target_.emplace_back(it.target, it.target_buffers);
      whole_.problem.resident.push_back(0);
    }
    for (const Move& move : moves.all()) {
      if (!move.adopted) continue;
      kept_.insert({move.sender, SourceBuffer(move, move.piece.region)});
      adopted_.insert({move.receiver, move.piece.tensor, move.piece.copy});
    }
  }

  WholeTasks Build(int64_t max_tasks) && {
    for (const Line& line : lines_.lines) AddLine(line);
    NumberTasks(max_tasks);
    AddTargetBuffers();
    FillTasks();
    AddSourceBuffers();
    for (const Line& line : lines_.lines) {
      for (const LineAtom& atom : line.atoms) AddReleases(atom);
    }
    AddUnused();
    AddZeros();
    return std::move(whole_);
  }

 private:
  struct Draft {
    WholeTasks::Task fragments;
    int64_t bytes = 0;
    absl::uint128 place_bytes = 0;  // the sum of bytes x place on the line
    int task = 0;
  };

  int num_ranks() const { return moves_.num_ranks(); }
  int SourceBuffer(const Move& move, const Box& region) const {
    return source_[move.sender].BufferOf(move.piece.tensor, move.source_copy,
                                         region);
  }
  int TargetBuffer(const Move& move, const Box& region) const {
    return target_[move.receiver].BufferOf(move.piece.tensor, move.piece.copy,
                                           region);
  }

  TaskKey KeyOf(const Move& move, const Box& region, int64_t place) const {
    const int source = SourceBuffer(move, region);
    // One that keeps what is adopted is never given back.
    if (source != kByExtents && kept_.count({move.sender, source}) == 0) {
      return {TaskKind::kFrom, move.sender, source};
    }
    const int target = TargetBuffer(move, region);
    if (target != kByExtents) return {TaskKind::kInto, move.receiver, target};
    return {TaskKind::kPart, 0, static_cast<int>(place * kLineParts / kOne)};
  }

  void AddLine(const Line& line) {
    int64_t begin = 0;
    for (const LineAtom& atom : line.atoms) {
      const int64_t middle = begin + atom.bytes / 2;
      const int64_t place =
          static_cast<int64_t>(absl::uint128(middle) * kOne / line.bytes);
      begin += atom.bytes;
      places_[atom.first_member] = place;
      for (const int i : lines_.MembersOf(atom)) {
        const Move& move = moves_.all()[i];
        if (move.adopted) continue;
        Draft& draft = drafts_[KeyOf(move, atom.region, place)];
        draft.fragments.push_back({i, atom.region});
        draft.bytes += atom.bytes;
        draft.place_bytes += absl::uint128(atom.bytes) * place;
      }
    }
  }

  // By place, so that each rank gives back and receives in proportion.
  void NumberTasks(int64_t max_tasks) {
    std::vector<std::tuple<int64_t, TaskKey, Draft*>> sorted;
    for (auto& [key, draft] : drafts_) {
      if (std::get<0>(key) == TaskKind::kPart) whole_.indivisible = false;
      sorted.emplace_back(static_cast<int64_t>(draft.place_bytes / draft.bytes),
                          key, &draft);
    }
    std::sort(sorted.begin(), sorted.end());
    const int64_t num_drafts = static_cast<int64_t>(sorted.size());
    const int64_t num_tasks = std::min(num_drafts, max_tasks);
    whole_.tasks.resize(num_tasks);
    whole_.problem.tasks.resize(num_tasks);
    for (int64_t i = 0; i < num_drafts; ++i) {
      std::get<2>(sorted[i])->task =
          static_cast<int>(i * num_tasks / num_drafts);
    }
  }

  void AddTargetBuffers() {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const RankMemory& memory = memory_[rank];
      std::map<int, std::vector<RankPiece>> pieces;
      for (size_t i = 0; i < memory.target_buffers.size(); ++i) {
        const Piece& piece = memory.target[i];
        const int buffer = memory.target_buffers[i];
        if (buffer == kByExtents ||
            adopted_.count({rank, piece.tensor, piece.copy}) > 0) {
          continue;
        }
        pieces[buffer].push_back({rank, piece});
      }
      for (auto& [buffer, of_buffer] : pieces) {
        allocation_of_[{rank, buffer}] =
            static_cast<int>(whole_.allocated.size());
        whole_.problem.allocations.push_back({rank, BytesOf(of_buffer)});
        whole_.allocated.push_back(std::move(of_buffer));
      }
    }
  }

  int64_t BytesOf(const std::vector<RankPiece>& pieces) const {
    int64_t bytes = 0;
    for (const RankPiece& it : pieces) bytes += moves_.BytesOf(it.piece);
    return bytes;
  }

  void FillTasks() {
    std::vector<std::map<int, int64_t>> makes(whole_.tasks.size());
    std::vector<std::set<int>> touches(whole_.tasks.size());
    for (auto& [key, draft] : drafts_) {
      for (MoveFragment& it : draft.fragments) {
        const Move& move = moves_.all()[it.move];
        const int target = TargetBuffer(move, it.region);
        if (target == kByExtents) {
          makes[draft.task][move.receiver] +=
              moves_.BytesOf({move.piece.tensor, it.region});
        } else {
          touches[draft.task].insert(allocation_of_[{move.receiver, target}]);
        }
        whole_.tasks[draft.task].push_back(std::move(it));
      }
    }
    for (size_t i = 0; i < makes.size(); ++i) {
      OrderTask& task = whole_.problem.tasks[i];
      for (const auto& [rank, bytes] : makes[i]) {
        task.makes.push_back({rank, bytes});
      }
      task.touches.assign(touches[i].begin(), touches[i].end());
    }
  }

  void AddSourceBuffers() {
    for (int rank = 0; rank < num_ranks(); ++rank) {
      const RankMemory& memory = memory_[rank];
      std::map<int, std::vector<RankPiece>> pieces;
      for (size_t i = 0; i < memory.source_buffers.size(); ++i) {
        if (memory.source_buffers[i] == kByExtents) continue;
        pieces[memory.source_buffers[i]].push_back({rank, memory.source[i]});
      }
      for (auto& [buffer, of_buffer] : pieces) {
        if (kept_.count({rank, buffer}) > 0) continue;
        const auto draft = drafts_.find({TaskKind::kFrom, rank, buffer});
        if (draft == drafts_.end()) {
          AddUnusedPieces(of_buffer);
          continue;
        }
        whole_.problem.releases.push_back(
            {{rank, BytesOf(of_buffer)}, {draft->second.task}});
        whole_.released.push_back(std::move(of_buffer));
      }
    }
  }

  // By extents: given back when the last task that reads it is done.
  void AddReleases(const LineAtom& atom) {
    const absl::Span<const int> members = lines_.MembersOf(atom);
    for (const Holder& holder : FreedHolders(moves_, members)) {
      if (source_[holder.rank].BufferOf(atom.tensor, holder.copy,
                                        atom.region) != kByExtents) {
        continue;
      }
      std::set<int> readers;
      for (const int i : members) {
        const Move& move = moves_.all()[i];
        if (move.sender != holder.rank || move.source_copy != holder.copy) {
          continue;
        }
        readers.insert(TaskOf(move, atom));
      }
      AddRelease({holder.rank, {atom.tensor, atom.region, holder.copy}},
                 {readers.begin(), readers.end()});
    }
  }

  int TaskOf(const Move& move, const LineAtom& atom) const {
    const TaskKey key = KeyOf(move, atom.region, places_[atom.first_member]);
    return drafts_.find(key)->second.task;
  }

  void AddRelease(const RankPiece& piece, std::vector<int> readers) {
    const auto [it, is_new] = release_of_.try_emplace(
        {piece.rank, readers}, static_cast<int>(whole_.released.size()));
    if (is_new) {
      whole_.problem.releases.push_back({{piece.rank, 0}, std::move(readers)});
      whole_.released.emplace_back();
    }
    whole_.problem.releases[it->second].memory.bytes +=
        moves_.BytesOf(piece.piece);
    whole_.released[it->second].push_back(piece);
  }

  void AddUnused() {
    for (const RankPiece& it : UnusedPieces(moves_, memory_)) {
      if (source_[it.rank].BufferOf(it.piece.tensor, it.piece.copy,
                                    it.piece.region) == kByExtents) {
        AddUnusedPieces({it});
      }
    }
    for (int rank = 0; rank < num_ranks(); ++rank) {
      for (const Piece& piece : memory_[rank].source) {
        whole_.problem.resident[rank] += moves_.BytesOf(piece);
      }
    }
  }

  void AddUnusedPieces(const std::vector<RankPiece>& pieces) {
    for (const RankPiece& it : pieces) {
      whole_.problem.resident[it.rank] -= moves_.BytesOf(it.piece);
      whole_.unused.push_back(it);
    }
  }

  void AddZeros() {
    whole_.zero_bytes.resize(num_ranks());
    for (const Move& move : moves_.all()) {
      if (!move.zero || TargetBuffer(move, move.piece.region) != kByExtents) {
        continue;
      }
      whole_.zero_bytes[move.receiver] += moves_.BytesOf(move.piece);
    }
  }

  const Moves& moves_;
  const Lines& lines_;
  const WorldMemory& memory_;
  std::vector<BufferIndex> source_;  // by rank
  std::vector<BufferIndex> target_;
  std::set<std::pair<int, int>> kept_;           // rank, source allocation
  std::set<std::tuple<int, int, int>> adopted_;  // rank, tensor, copy
  std::vector<int64_t> places_;  // of atoms, by their first member
  std::map<TaskKey, Draft> drafts_;
  std::map<std::pair<int, int>, int> allocation_of_;  // rank, allocation
  std::map<std::pair<int, std::vector<int>>, int> release_of_;
  WholeTasks whole_;
};

}  // namespace

bool AnyWhole(const WorldMemory& memory) {
  const auto any = [](const std::vector<int>& buffers) {
    return std::any_of(buffers.begin(), buffers.end(),
                       [](int buffer) { return buffer != kByExtents; });
  };
  return std::any_of(memory.begin(), memory.end(), [&](const RankMemory& it) {
    return any(it.source_buffers) || any(it.target_buffers);
  });
}

WholeTasks MakeWholeTasks(const Moves& moves, const Lines& lines,
                          const WorldMemory& memory) {
  WholeTasks whole =
      Builder(moves, lines, memory).Build(std::numeric_limits<int64_t>::max());
  if (whole.tasks.size() <= kMaxTasks) return whole;
  WholeTasks joined = Builder(moves, lines, memory).Build(kMaxTasks);
  joined.unjoined = std::move(whole.problem);
  return joined;
}

PartTable TableOf(const Moves& moves, const WholeTasks& tasks,
                  absl::Span<const int> order) {
  const int64_t num_tasks = static_cast<int64_t>(order.size());
  PartTable table(moves.num_ranks(), num_tasks + 1);
  TaskReplay replay(tasks.problem);
  for (int64_t part = 0; part < num_tasks; ++part) {
    const int task = order[part];
    for (const BytesAt& it : replay.MakesOf(task)) {
      table.at(part, it.rank).made += it.bytes;
    }
    for (const int release : replay.Do(task)) {
      const BytesAt& memory = tasks.problem.releases[release].memory;
      table.at(part, memory.rank).freed += memory.bytes;
    }
    for (const MoveFragment& it : tasks.tasks[task]) {
      const Move& move = moves.all()[it.move];
      if (move.sender == move.receiver) continue;
      const int64_t bytes = moves.BytesOf({move.piece.tensor, it.region});
      table.at(part, move.sender).sent += bytes;
      table.at(part, move.receiver).received += bytes;
    }
  }
  for (int rank = 0; rank < moves.num_ranks(); ++rank) {
    table.at(num_tasks, rank).made += tasks.zero_bytes[rank];
  }
  for (size_t i = 0; i < tasks.allocated.size(); ++i) {
    if (replay.IsMade(static_cast<int>(i))) continue;
    const BytesAt& it = tasks.problem.allocations[i];
    table.at(num_tasks, it.rank).made += it.bytes;
  }
  return table;
}

namespace {

// Goes through the order and fills stages.
class StageFiller {
 public:
  StageFiller(const Moves& moves, const WholeTasks& tasks)
      : moves_(moves), tasks_(tasks), replay_(tasks.problem) {}

  void Do(int task, StageContents& stage,
          std::vector<MoveFragment>& fragments) {
    MakeAll(tasks_.problem.tasks[task].touches, stage);
    for (const int release : replay_.Do(task)) {
      Append(tasks_.released[release], stage.frees);
    }
    fragments.insert(fragments.end(), tasks_.tasks[task].begin(),
                     tasks_.tasks[task].end());
  }

  // What no task touched.
  void MakeRest(StageContents& stage) {
    std::vector<int> all(tasks_.allocated.size());
    std::iota(all.begin(), all.end(), 0);
    MakeAll(all, stage);
  }

  void Finish(StageContents& stage, std::vector<MoveFragment> fragments) {
    stage.moves = JoinFragments(moves_, std::move(fragments));
    std::sort(stage.makes.begin(), stage.makes.end());
    std::sort(stage.frees.begin(), stage.frees.end());
  }

 private:
  void MakeAll(absl::Span<const int> allocations, StageContents& stage) {
    for (const int it : allocations) {
      if (!replay_.IsMade(it)) Append(tasks_.allocated[it], stage.makes);
    }
  }
  static void Append(const std::vector<RankPiece>& from,
                     std::vector<RankPiece>& to) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const Moves& moves_;
  const WholeTasks& tasks_;
  TaskReplay replay_;
};

}  // namespace

std::vector<StageContents> ContentsOf(const Moves& moves,
                                      const WholeTasks& tasks,
                                      absl::Span<const int> order,
                                      absl::Span<const int64_t> stage_ends) {
  StageFiller filler(moves, tasks);
  std::vector<StageContents> stages(stage_ends.size());
  int64_t part = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    std::vector<MoveFragment> fragments;
    for (; part < stage_ends[i]; ++part) {
      if (part == static_cast<int64_t>(order.size())) {
        filler.MakeRest(stages[i]);
      } else {
        filler.Do(order[part], stages[i], fragments);
      }
    }
    filler.Finish(stages[i], std::move(fragments));
  }
  AddWhatStays(moves, stages);
  return stages;
}

}  // namespace dynatrain::transition
