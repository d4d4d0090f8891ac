#include "transition/check/matching.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

struct Stream {
  std::vector<std::pair<int, int>> sends;  // rank, operation
  std::vector<std::pair<int, int>> receives;
};
using StreamKey = std::tuple<int, int, int>;  // sender, receiver, channel

std::map<StreamKey, Stream> StreamsOf(absl::Span<const Program> programs) {
  std::map<StreamKey, Stream> streams;
  for (const Program& program : programs) {
    for (int i = 0; i < static_cast<int>(program.operations.size()); ++i) {
      const Operation& it = program.operations[i];
      if (it.kind == OperationKind::kSend) {
        streams[{program.rank, it.peer, it.channel}].sends.emplace_back(
            program.rank, i);
      } else if (it.kind == OperationKind::kReceive) {
        streams[{it.peer, program.rank, it.channel}].receives.emplace_back(
            program.rank, i);
      }
    }
  }
  return streams;
}

// The window of each operation, -1 outside groups.
std::vector<int> WindowsOf(const Program& program) {
  std::vector<int> windows;
  std::map<int, int> window_of_lane;
  for (const Operation& it : program.operations) {
    int& window = window_of_lane.try_emplace(it.lane, -1).first->second;
    if (it.kind == OperationKind::kGroupBegin) window = it.window;
    if (it.kind == OperationKind::kGroupEnd) window = -1;
    windows.push_back(window);
  }
  return windows;
}

// Up to copies: the ends may hold different ones.
bool SamePieces(const Pieces& a, const Pieces& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Piece& one, const Piece& other) {
                      return one.tensor == other.tensor &&
                             one.region == other.region;
                    });
}

}  // namespace

Matching Match(absl::Span<const Program> programs) {
  Matching matching;
  for (const Program& program : programs) {
    matching.other_end.emplace_back(program.operations.size());
  }
  for (const auto& [key, stream] : StreamsOf(programs)) {
    const auto& [sends, receives] = stream;
    const int number = matching.num_streams++;
    const size_t pairs = std::min(sends.size(), receives.size());
    for (size_t i = 0; i < pairs; ++i) {
      const int place = static_cast<int>(i);
      matching.other_end[sends[i].first][sends[i].second] = {
          receives[i].first, receives[i].second, number, place};
      matching.other_end[receives[i].first][receives[i].second] = {
          sends[i].first, sends[i].second, number, place};
    }
    if (sends.size() == receives.size()) continue;
    const auto [rank, operation] =
        sends.size() > pairs ? sends[pairs] : receives[pairs];
    matching.violations.push_back(
        {ViolationKind::kUnmatched, rank, operation,
         absl::StrCat("rank ", std::get<0>(key), " sends ", sends.size(),
                      " messages to rank ", std::get<1>(key), " on channel ",
                      std::get<2>(key), ", which receives ", receives.size())});
  }
  return matching;
}

Violations CheckEnds(absl::Span<const Program> programs,
                     const Matching& matching) {
  std::vector<std::vector<int>> windows;
  for (const Program& program : programs) windows.push_back(WindowsOf(program));
  Violations violations;
  for (const Program& program : programs) {
    for (int i = 0; i < static_cast<int>(program.operations.size()); ++i) {
      const Operation& send = program.operations[i];
      if (send.kind != OperationKind::kSend) continue;
      const Matching::End& end = matching.other_end[program.rank][i];
      const Operation& receive = programs[end.rank].operations[end.operation];
      if (!SamePieces(send.pieces, receive.pieces)) {
        violations.push_back(
            {ViolationKind::kMismatched, program.rank, i,
             absl::StrCat(send.DebugString(), ", but rank ", end.rank,
                          " takes it for ", receive.DebugString())});
      }
      const int here = windows[program.rank][i];
      const int there = windows[end.rank][end.operation];
      if (here != there) {
        violations.push_back(
            {ViolationKind::kGroup, program.rank, i,
             absl::StrCat("in window ", here, ", but rank ", end.rank,
                          " has its other end in window ", there)});
      }
    }
  }
  return violations;
}

}  // namespace dynatrain::transition
