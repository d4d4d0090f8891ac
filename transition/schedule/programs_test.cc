#include "transition/schedule/programs.h"

#include <algorithm>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/random_case.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/plan_moves.h"
#include "vps/geometry/box.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vps::Box;

// What the layouts say, not what the plan says.
Claims ClaimsOf(const PlanInput& input, const Fingerprint& digest) {
  Claims claims = {.plan_digest = digest};
  claims.ranks.resize(input.num_processes());
  const vps::Layout& target = input.target().layout();
  for (int i = 0; i < target.num_tensors(); ++i) {
    claims.item_bytes.push_back(target.tensor(i).item_bytes());
  }
  for (int rank = 0; rank < input.source().size(); ++rank) {
    input.source().layout().ForEachRegion(
        rank, [&](const vps::OwnedRegion& region) {
          claims.ranks[input.UnionIndexOfSource(rank)].source.push_back(
              {region.tensor, region.global});
        });
  }
  for (int rank = 0; rank < input.target().size(); ++rank) {
    target.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      claims.ranks[input.UnionIndexOfTarget(rank)].target.push_back(
          {region.tensor, region.global});
    });
  }
  return claims;
}

ClusterModel ClusterFor(int ranks, int ranks_per_node) {
  return *ClusterModel::Create(
      {.num_nodes = (ranks + ranks_per_node - 1) / ranks_per_node,
       .ranks_per_node = ranks_per_node,
       .nics_per_node = ranks_per_node,
       .inside_bytes_per_second = 200'000'000'000,
       .nic_bytes_per_second = 25'000'000'000});
}

// Planner, scheduler and emission against the checker: random pairs of worlds,
// nodes, units, windows, by XOR and by list, ordered and in groups.
TEST(ProgramsTest, TheCheckerAcceptsEachPlanInEachSchedule) {
  std::mt19937_64 random = TestRandom(61);
  int by_list = 0;
  int by_xor = 0;
  for (int i = 0; i < 400; ++i) {
    const PlanInput input = *MakeInput(RandomCase(random));
    if (input.source().empty()) continue;
    const Moves moves = *MovesOf(input);
    const Traffic traffic = moves.ToTraffic();
    const ScheduleOptions options = {
        .execution = i % 2 == 0 ? Execution::kOrdered : Execution::kGrouped,
        .list = {.slack_ppm = i % 3 == 0 ? 0 : 10'000,
                 .unit_bytes = 1 + static_cast<int64_t>(random() % 9)},
        .max_window_bytes = 9 + static_cast<int64_t>(random() % 100),
        .max_list_ranks = random() % 4 == 0 ? 0 : 1024};
    const ScheduleChoice choice = *ChooseSchedule(
        traffic,
        ClusterFor(moves.num_ranks(), 1 + static_cast<int>(random() % 5)),
        options);
    std::vector<Schedule> schedules;
    for (const LaneChoice& lane : choice.lanes) {
      schedules.push_back(lane.schedule);
      ++(lane.kind == ScheduleKind::kList ? by_list : by_xor);
    }
    const Fingerprint digest = input.AgreementDigest();
    const Violations violations = CheckPrograms(
        ClaimsOf(input, digest), MakePrograms(moves, schedules, digest));
    ASSERT_THAT(violations, IsEmpty()) << "case " << i;
  }
  EXPECT_GT(by_list, 20);
  EXPECT_GT(by_xor, 20);
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
    return PiecesOf(moves, moves.Between(0, 1), begin, end);
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

TEST(MovesTest, SumUpToTraffic) {
  EXPECT_EQ(TwoTensors().ToTraffic(), *Traffic::Create(2, {{0, 1, 30}}));
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
  EXPECT_THAT(error({{0, 1, {0, *Box::Whole({int64_t{1} << 60})}}}),
              HasSubstr("more than"));
  EXPECT_THAT(Moves::Create(2, {4, 0}, {}).status().message(),
              HasSubstr("item_bytes of tensor 1 is 0; it must be at least 1"));
}

}  // namespace
}  // namespace dynatrain::transition
