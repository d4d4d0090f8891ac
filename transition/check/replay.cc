#include "transition/check/replay.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

// What a lane does one after the other: one operation, a group, or a join.
struct Unit {
  std::vector<int> operations;
  bool join = false;
  int waiting = 0;  // operations that have begun and can't end yet
};

struct Lane {
  std::vector<Unit> units;
  size_t next = 0;
  bool begun = false;
  bool ended() const { return next == units.size(); }
};

struct Stream {
  int received = 0;
  std::vector<std::pair<int, int>> blocked_sends;  // rank, operation
};

// A lane per number, each with all joins.
std::map<int, Lane> LanesOf(const Program& program) {
  std::map<int, Lane> lanes;
  for (const Operation& it : program.operations) lanes[it.lane];
  std::map<int, bool> open;
  for (int i = 0; i < static_cast<int>(program.operations.size()); ++i) {
    const Operation& it = program.operations[i];
    switch (it.kind) {
      case OperationKind::kJoin:
        for (auto& [number, lane] : lanes) {
          lane.units.push_back({.operations = {i}, .join = true});
        }
        break;
      case OperationKind::kGroupBegin:
        open[it.lane] = true;
        lanes[it.lane].units.emplace_back();
        break;
      case OperationKind::kGroupEnd:
        open[it.lane] = false;
        break;
      default:
        if (!open[it.lane]) lanes[it.lane].units.emplace_back();
        lanes[it.lane].units.back().operations.push_back(i);
    }
  }
  return lanes;
}

class Replay {
 public:
  Replay(absl::Span<const Program> programs, const Matching& matching,
         int credits)
      : programs_(programs),
        matching_(matching),
        credits_(credits),
        streams_(matching.num_streams) {
    lanes_.reserve(programs.size());  // lane_of_ points into it
    for (const Program& program : programs) {
      lanes_.push_back(LanesOf(program));
      const size_t size = program.operations.size();
      begun_.emplace_back(size);
      ended_.emplace_back(size);
      lane_of_.emplace_back();
      for (const Operation& it : program.operations) {
        lane_of_.back().push_back(&lanes_.back()[it.lane]);
      }
    }
  }

  Violations Run() && {
    for (int rank = 0; rank < static_cast<int>(programs_.size()); ++rank) {
      ready_.push_back(rank);
    }
    while (!ready_.empty()) {
      const int rank = ready_.back();
      ready_.pop_back();
      while (Advance(rank)) {
      }
    }
    for (int rank = 0; rank < static_cast<int>(programs_.size()); ++rank) {
      if (Waits(rank) >= 0) return {Explain(rank)};
    }
    return {};
  }

 private:
  // One round over the lanes of a rank; returns whether anything changed.
  bool Advance(int rank) {
    bool changed = false;
    for (auto& [number, lane] : lanes_[rank]) {
      while (!lane.ended() && !lane.units[lane.next].join) {
        Unit& unit = lane.units[lane.next];
        if (!lane.begun) {
          Begin(rank, unit);
          lane.begun = true;
        }
        if (unit.waiting > 0) break;
        ++lane.next;
        lane.begun = false;
        changed = true;
      }
    }
    return PassJoin(rank) || changed;
  }

  // All lanes have all joins, in the same order: they pass one together.
  bool PassJoin(int rank) {
    for (const auto& [number, lane] : lanes_[rank]) {
      if (lane.ended() || !lane.units[lane.next].join) return false;
    }
    for (auto& [number, lane] : lanes_[rank]) ++lane.next;
    return !lanes_[rank].empty();
  }

  void Begin(int rank, Unit& unit) {
    unit.waiting = static_cast<int>(unit.operations.size());
    for (const int operation : unit.operations) {
      begun_[rank][operation] = true;
      const OperationKind kind = programs_[rank].operations[operation].kind;
      if (kind == OperationKind::kSend) {
        BeginSend(rank, operation);
      } else if (kind == OperationKind::kReceive) {
        const Matching::End& send = matching_.other_end[rank][operation];
        if (begun_[send.rank][send.operation]) Meet(send, rank, operation);
      } else {
        End(rank, operation);
      }
    }
  }

  void BeginSend(int rank, int operation) {
    const Matching::End& receive = matching_.other_end[rank][operation];
    if (begun_[receive.rank][receive.operation]) {
      Receive(receive.rank, receive.operation);
      End(rank, operation);
    } else if (HasCredit(receive)) {
      End(rank, operation);
    } else {
      streams_[receive.stream].blocked_sends.emplace_back(rank, operation);
    }
  }

  bool HasCredit(const Matching::End& message) const {
    return message.place < streams_[message.stream].received + credits_;
  }

  // A receive begins whose send has begun.
  void Meet(const Matching::End& send, int rank, int operation) {
    Receive(rank, operation);
    End(send.rank, send.operation);
  }

  void Receive(int rank, int operation) {
    End(rank, operation);
    Stream& stream = streams_[matching_.other_end[rank][operation].stream];
    ++stream.received;
    std::vector<std::pair<int, int>> blocked;
    std::swap(blocked, stream.blocked_sends);
    for (const auto& [sender, send] : blocked) {
      if (HasCredit(matching_.other_end[sender][send])) {
        End(sender, send);
      } else if (!ended_[sender][send]) {
        stream.blocked_sends.emplace_back(sender, send);
      }
    }
  }

  void End(int rank, int operation) {
    if (ended_[rank][operation]) return;
    ended_[rank][operation] = true;
    Lane& lane = *lane_of_[rank][operation];
    if (--lane.units[lane.next].waiting == 0) ready_.push_back(rank);
  }

  // The first operation that a rank waits in; -1 if its program has ended.
  int Waits(int rank) const {
    for (const auto& [number, lane] : lanes_[rank]) {
      if (lane.ended() || lane.units[lane.next].join) continue;
      for (const int operation : lane.units[lane.next].operations) {
        if (!ended_[rank][operation]) return operation;
      }
    }
    return -1;
  }

  // Follows who waits for whom until a rank comes twice.
  Violation Explain(int rank) const {
    const int first = rank;
    std::string text = credits_ == 0
                           ? "under rendezvous"
                           : absl::StrCat("with ", credits_, " credits");
    std::vector<bool> seen(programs_.size());
    while (!seen[rank]) {
      seen[rank] = true;
      const int operation = Waits(rank);
      if (operation < 0) break;
      absl::StrAppend(
          &text, ", rank ", rank, " waits in operation ", operation, ", ",
          OperationName(programs_[rank].operations[operation].kind),
          ", for rank ", programs_[rank].operations[operation].peer);
      rank = programs_[rank].operations[operation].peer;
    }
    return {ViolationKind::kDeadlock, first, Waits(first), std::move(text)};
  }

  const absl::Span<const Program> programs_;
  const Matching& matching_;
  const int credits_;
  std::vector<std::map<int, Lane>> lanes_;   // by rank, then lane number
  std::vector<std::vector<Lane*>> lane_of_;  // by rank and operation
  std::vector<std::vector<bool>> begun_;
  std::vector<std::vector<bool>> ended_;
  std::vector<Stream> streams_;
  std::vector<int> ready_;  // ranks that may go on
};

}  // namespace

Violations CheckWaits(absl::Span<const Program> programs,
                      const Matching& matching, int credits) {
  return Replay(programs, matching, credits).Run();
}

}  // namespace dynatrain::transition
