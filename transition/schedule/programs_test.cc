#include "transition/schedule/programs.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using vps::Box;

ClusterModel ClusterFor(int ranks, int ranks_per_node) {
  return *ClusterModel::Create(
      {.num_nodes = (ranks + ranks_per_node - 1) / ranks_per_node,
       .ranks_per_node = ranks_per_node,
       .nics_per_node = ranks_per_node,
       .inside_bytes_per_second = 200'000'000'000,
       .nic_bytes_per_second = 25'000'000'000});
}

// Programs of the whole input, by the schedule that is chosen; counts which.
std::vector<Program> ProgramsOf(const PlanInput& input, const Moves& moves,
                                int i, std::mt19937_64& random, int& by_list,
                                int& by_xor) {
  const ScheduleOptions options = {
      .execution = i % 2 == 0 ? Execution::kOrdered : Execution::kGrouped,
      .list = {.slack_ppm = i % 3 == 0 ? 0 : 10'000,
               .unit_bytes = 1 + static_cast<int64_t>(random() % 9)},
      .max_window_bytes = 9 + static_cast<int64_t>(random() % 100),
      .max_list_ranks = random() % 4 == 0 ? 0 : 1024};
  const ScheduleChoice choice = *ChooseSchedule(
      moves.ToTraffic(),
      ClusterFor(moves.num_ranks(), 1 + static_cast<int>(random() % 5)),
      options);
  std::vector<Schedule> schedules;
  for (const LaneChoice& lane : choice.lanes) {
    schedules.push_back(lane.schedule);
    ++(lane.kind == ScheduleKind::kList ? by_list : by_xor);
  }
  return MakePrograms(moves, schedules, input.AgreementDigest());
}

// Planner, scheduler and emission against the checker: random pairs of worlds,
// nodes, units, windows, by XOR and by list, ordered and in groups; half of
// them of any layouts there are: flat, padded, copied tensors.
TEST(ProgramsTest, TheCheckerAcceptsEachPlanInEachSchedule) {
  std::mt19937_64 random = TestRandom(61);
  int by_list = 0;
  int by_xor = 0;
  int zeros = 0;
  int copies = 0;
  for (int i = 0; i < 500; ++i) {
    const PlanInput input = i % 2 == 0 ? *MakeInput(RandomCase(random))
                                       : *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    const Moves moves = *MovesOf(input);
    for (const Move& move : moves.all()) {
      zeros += move.zero;
      copies += move.source_copy != move.piece.copy;
    }
    ASSERT_THAT(
        CheckPrograms(ClaimsOf(input),
                      ProgramsOf(input, moves, i, random, by_list, by_xor)),
        IsEmpty())
        << "case " << i;
  }
  EXPECT_GT(by_list, 20);
  EXPECT_GT(by_xor, 20);
  EXPECT_GT(zeros, 20);
  EXPECT_GT(copies, 20);
}

Moves TwoTensors() {
  return *Moves::Create(2, {2, 4},
                        {{0, 1, {1, *Box::Create({0, 1}, {2, 3})}},
                         {0, 1, {0, *Box::Create({4}, {3})}}});
}

// Stream: 6 bytes of tensor 0, then 24 of tensor 1.
TEST(ProgramsTest, PiecesOfAStreamAreCutAtElements) {
  const Moves moves = TwoTensors();
  const auto pieces = [&](int64_t begin, int64_t end) {
    return PiecesOf(moves, {0, 1, begin, end - begin}).received;
  };
  EXPECT_THAT(pieces(0, 30),
              ElementsAre(Piece{0, *Box::Create({4}, {3})},
                          Piece{1, *Box::Create({0, 1}, {2, 3})}));
  EXPECT_THAT(pieces(3, 9), ElementsAre(Piece{0, *Box::Create({5}, {2})}));
  EXPECT_THAT(pieces(9, 22),
              ElementsAre(Piece{1, *Box::Create({0, 1}, {1, 3})},
                          Piece{1, *Box::Create({1, 1}, {1, 1})}));
  EXPECT_THAT(pieces(7, 9), IsEmpty());
}

// Both ends cut alike, each at its own copy; byte by byte as the stream says.
TEST(ProgramsTest, PiecesOfAnyParcelAreItsPartOfTheStream) {
  std::mt19937_64 random = TestRandom(62);
  for (int i = 0; i < 200; ++i) {
    std::vector<Move> all;
    std::vector<std::pair<int, int64_t>> stream;  // tensor, element of a byte
    const std::vector<int64_t> item_bytes = {1, 2, 4, 8};
    for (int tensor = 0; tensor < 4; ++tensor) {
      const int64_t elements = 1 + static_cast<int64_t>(random() % 9);
      all.push_back({.sender = 0,
                     .receiver = 1,
                     .piece = {tensor, *Box::Whole({elements}), 2},
                     .source_copy = 3});
      for (int64_t byte = 0; byte < elements * item_bytes[tensor]; ++byte) {
        stream.emplace_back(tensor, byte / item_bytes[tensor]);
      }
    }
    const Moves moves = *Moves::Create(2, item_bytes, all);
    const auto size = static_cast<int64_t>(stream.size());
    const auto at = static_cast<int64_t>(random() % size);
    const int64_t end = at + static_cast<int64_t>(random() % (size - at)) + 1;
    const ParcelPieces pieces = PiecesOf(moves, {0, 1, at, end - at});
    // An element is in the parcel that its first byte is in or, if a cut is
    // inside it, in the one after the cut.
    std::set<std::pair<int, int64_t>> expected(stream.begin() + at,
                                               stream.begin() + end);
    if (end < size && stream[end] == stream[end - 1]) {
      expected.erase(stream[end]);
    }
    std::set<std::pair<int, int64_t>> actual;
    int64_t bytes = 0;
    ASSERT_EQ(pieces.sent.size(), pieces.received.size());
    for (size_t k = 0; k < pieces.sent.size(); ++k) {
      const Piece& piece = pieces.received[k];
      EXPECT_EQ(piece.copy, 2);
      EXPECT_EQ(pieces.sent[k], (Piece{piece.tensor, piece.region, 3}));
      bytes += moves.BytesOf(piece);
      for (int64_t e = 0; e < piece.region.extent(0); ++e) {
        actual.emplace(piece.tensor, piece.region.origin(0) + e);
      }
    }
    EXPECT_EQ(actual, expected) << at << " to " << end;
    EXPECT_EQ(pieces.bytes, bytes);
  }
}

// Rank 0 has it, 1 hands it on without keeping it, 2 keeps it and passes it on.
TEST(ProgramsTest, WhatIsPassedOnIsProven) {
  const Piece piece = {0, *Box::Whole({8})};
  const Moves moves = *Moves::Create(4, {4},
                                     {{.sender = 0,
                                       .receiver = 1,
                                       .piece = piece,
                                       .stream = 3,
                                       .into = Space::kStaging},
                                      {.sender = 1,
                                       .receiver = 2,
                                       .piece = piece,
                                       .stream = 3,
                                       .space = Space::kStaging,
                                       .after = 0},
                                      {.sender = 2,
                                       .receiver = 3,
                                       .piece = piece,
                                       .stream = 3,
                                       .space = Space::kTarget,
                                       .after = 1}});
  Schedule schedule;
  for (int slot = 0; slot < 2 + 2; ++slot) {
    schedule.window_begins.push_back(
        static_cast<int64_t>(schedule.parcels.size()));
    for (int hop = 0; hop < 3; ++hop) {
      if (slot - hop < 0 || slot - hop > 1) continue;
      schedule.parcels.push_back({hop, hop + 1, (slot - hop) * 16, 16, 3});
    }
  }
  Claims claims = {.item_bytes = {4}, .ranks = std::vector<RankClaims>(4)};
  claims.ranks[0].source = {piece};
  claims.ranks[2].target = claims.ranks[3].target = {piece};
  EXPECT_THAT(CheckPrograms(claims, MakePrograms(moves, {schedule}, {})),
              IsEmpty());
  // Without windows a rank may pass on before it has received.
  schedule.window_begins.clear();
  EXPECT_THAT(CheckPrograms(claims, MakePrograms(moves, {schedule}, {})),
              Not(IsEmpty()));
}

TEST(MovesTest, SumUpToTraffic) {
  EXPECT_EQ(TwoTensors().ToTraffic(), *Traffic::Create(2, {{0, 1, 30}}));
}

TEST(MovesTest, OthersShareTheTensors) {
  const Moves two = TwoTensors();
  const Moves none = *two.With({});
  EXPECT_EQ(none.item_bytes().data(), two.item_bytes().data());
  EXPECT_THAT(none.all(), IsEmpty());
  EXPECT_EQ(two.With({{.sender = 2}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MovesTest, RefuseWhatIsNotThere) {
  const Box box = *Box::Whole({3});
  const auto error = [](std::vector<Move> moves) {
    return std::string(
        Moves::Create(2, {4}, std::move(moves)).status().message());
  };
  EXPECT_THAT(error({{0, 2, {0, box}}}), HasSubstr("ranks are 0 to 1"));
  EXPECT_THAT(error({{0, 1, {1, box}}}), HasSubstr("there are 1 tensors"));
  EXPECT_THAT(error({{0, 1, {0, *Box::Whole({0})}}}), HasSubstr("is empty"));
  EXPECT_THAT(error({{0, 1, {0, box}, true}}), HasSubstr("does not stay"));
  const Move stays = {.sender = 1, .receiver = 1, .piece = {0, box}};
  const auto with = [&](auto change) {
    Move move = stays;
    change(move);
    return error({move});
  };
  EXPECT_THAT(with([](Move& m) { m.zero = m.adopted = true; }),
              HasSubstr("is adopted and zero"));
  EXPECT_THAT(with([](Move& m) { m.adopted = true, m.source_copy = 1; }),
              HasSubstr("is adopted as copy 0, but is copy 1"));
  EXPECT_THAT(with([](Move& m) { m.stream = 1; }), HasSubstr("no collective"));
  EXPECT_THAT(with([](Move& m) { m.piece.copy = -1; }),
              HasSubstr("has copy -1 in target memory; copies are 0 to 16383"));
  EXPECT_THAT(with([](Move& m) { m.piece.copy = 1 << 14; }),
              HasSubstr("has copy 16384 in target memory"));
  EXPECT_THAT(with([](Move& m) { m.source_copy = 1 << 14; }),
              HasSubstr("has copy 16384 in source memory"));
  EXPECT_THAT(with([](Move& m) { m.source_copy = m.piece.copy = 16383; }),
              IsEmpty());
  EXPECT_THAT(with([](Move& m) { m.stream = -1; }),
              HasSubstr("has stream -1; it may not be negative"));
  EXPECT_THAT(with([](Move& m) { m.zero = true, m.receiver = 0; }),
              HasSubstr("is zero, but does not stay"));
  EXPECT_THAT(with([](Move& m) { m.into = Space::kSource, m.receiver = 0; }),
              HasSubstr("goes into source memory"));
  EXPECT_THAT(with([](Move& m) { m.after = 0, m.receiver = 0; }),
              HasSubstr("reads source memory after rank 0"));
  EXPECT_THAT(with([](Move& m) { m.after = 2; }), HasSubstr("names rank 2"));
  EXPECT_THAT(error({{.sender = 0, .receiver = 1, .piece = {0, box}},
                     {.sender = 0,
                      .receiver = 1,
                      .piece = {0, *Box::Create({3}, {1})},
                      .space = Space::kTarget,
                      .after = 1}}),
              HasSubstr("reads or writes another memory than its stream"));
  EXPECT_THAT(error({{0, 1, {0, *Box::Whole({int64_t{1} << 60})}}}),
              HasSubstr("more than"));
  EXPECT_THAT(Moves::Create(2, {4, 0}, {}).status().message(),
              HasSubstr("item_bytes of tensor 1 is 0; it must be at least 1"));
}

}  // namespace
}  // namespace dynatrain::transition
