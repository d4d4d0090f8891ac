#include "transition/check/check.h"

#include <limits>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/sample_programs.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CheckTest, AcceptsRightPrograms) {
  std::mt19937_64 random = TestRandom(21);
  for (int i = 0; i < 200; ++i) {
    const Sample sample = MakeSample(random);
    ASSERT_THAT(CheckPrograms(sample.claims, sample.programs), IsEmpty());
  }
}

TEST(CheckTest, NothingToDoIsRight) {
  EXPECT_THAT(CheckPrograms({.ranks = {{}, {}}}, {{.rank = 0}, {.rank = 1}}),
              IsEmpty());
}

TEST(CheckTest, AViolationNamesWhatIsMissing) {
  Claims claims = {.ranks = {{}}};
  claims.item_bytes = {4};
  claims.ranks[0].target = {{0, *vps::Box::Whole({3})}};
  const Violations violations = CheckPrograms(claims, {{.rank = 0}});
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].DebugString(),
            "gap: rank 0: tensor 0: 3 elements of [0:3] are never written");
}

TEST(CheckTest, AnOverlapIsSaidOncePerOperation) {
  Claims claims = {.item_bytes = {4}, .ranks = {{}}};
  const Piece piece = {0, *vps::Box::Whole({3})};
  claims.ranks[0] = {.source = {piece}, .target = {piece}};
  const Violations violations = CheckPrograms(
      claims, {{.operations = {Allocate({piece}, 12), Copy({piece}, 12),
                               Copy({piece}, 12), Copy({piece}, 12)}}});
  ASSERT_THAT(violations, SizeIs(2));
  EXPECT_EQ(violations[1].DebugString(),
            "overlap: rank 0, operation 3: tensor 0: [0:3] is written twice, "
            "also by operation 1");
}

TEST(CheckTest, SaysNoMoreThanAPersonReads) {
  const Program program = {.operations =
                               std::vector<Operation>(100, Send(0, {}, 0))};
  EXPECT_THAT(CheckPrograms({.ranks = {{}}}, {program}), SizeIs(32));
}

// The same comes twice through rank 1, for both copies of rank 2. Each turn of
// the buffer has room for one.
TEST(CheckTest, ABufferMayBeReservedAgain) {
  const Piece piece = {0, *vps::Box::Whole({6})};
  const Piece second = {0, piece.region, /*copy=*/1};
  Claims claims = {.item_bytes = {1}, .ranks = std::vector<RankClaims>(3)};
  claims.ranks[0].source = {piece};
  claims.ranks[2].target = {piece, second};
  std::vector<Operation> relay;
  for (int turn = 0; turn < 2; ++turn) {
    for (const Operation& it :
         {Reserve(3, 6), Join(), ReceiveStaged(0, {piece}, 6, 3, 1, 1),
          SendStaged(2, {piece}, 6, 3, 1, 1), Join(), Release(3, 6)}) {
      relay.push_back(it);
    }
  }
  EXPECT_THAT(CheckPrograms(
                  claims, {{.rank = 0,
                            .operations = {Send(1, {piece}, 6, 1, 1),
                                           Send(1, {piece}, 6, 1, 1)}},
                           {.rank = 1, .operations = relay},
                           {.rank = 2,
                            .operations = {Allocate({piece, second}, 12),
                                           Join(), Receive(1, {piece}, 6, 1, 1),
                                           Receive(1, {second}, 6, 1, 1)}}}),
              IsEmpty());
}

// Under the sanitizers a sum that overflows ends the test.
TEST(CheckTest, SumsOfHugeRegionsDontOverflow) {
  const Claims claims = {.item_bytes = {1}, .ranks = {{}}};
  const Piece piece = {0, *vps::Box::Whole({int64_t{1} << 62})};
  const Operation allocate = Allocate({piece}, int64_t{1} << 62);
  const Violations violations = CheckPrograms(
      claims, {{.operations = {allocate, allocate, allocate, allocate,
                               Copy({piece}, int64_t{1} << 62)}}});
  EXPECT_THAT(violations,
              Contains(Field(&Violation::kind, ViolationKind::kNotAllocated)));
  EXPECT_THAT(violations, Contains(Field(&Violation::text,
                                         HasSubstr("more than 2^63 bytes"))));
}

// Operations with any numbers in them: the checker neither dies nor hangs, and
// what it doesn't refuse is right by its own rules.
TEST(CheckTest, SurvivesAnyProgram) {
  std::mt19937_64 random = TestRandom(22);
  const int64_t kNumbers[] = {-1,
                              0,
                              1,
                              2,
                              3,
                              64,
                              1 << 20,
                              std::numeric_limits<int>::max(),
                              std::numeric_limits<int>::min()};
  const auto number = [&] {
    return static_cast<int>(kNumbers[random() % std::size(kNumbers)]);
  };
  const vps::Box kHuge = *vps::Box::Whole({int64_t{1} << 59});
  for (int i = 0; i < 2000; ++i) {
    Sample sample = MakeSample(random);
    for (int k = 0; k < 3; ++k) {
      Program& program = sample.programs[random() % sample.programs.size()];
      if (program.operations.empty()) continue;
      Operation& it = program.operations[random() % program.operations.size()];
      switch (random() % 13) {
        case 0:
          it.kind = static_cast<OperationKind>(random() % 12);
          break;
        case 1:
          it.lane = number();
          break;
        case 2:
          it.channel = number();
          break;
        case 3:
          it.peer = number();
          break;
        case 4:
          it.window = number();
          break;
        case 5:
          it.bytes = number() * int64_t{1} << (random() % 33);
          break;
        case 6:
          it.pieces = {{number(), kHuge}};
          it.bytes = kHuge.num_elements() * (2 << random() % 3);
          break;
        case 7:
          it.pieces.clear();
          break;
        case 8:
          program.operations.resize(random() % program.operations.size());
          break;
        case 9:
          it.buffer = number();
          break;
        case 10:
          it.space = static_cast<Space>(random() % 3);
          break;
        case 11:
          it.into = static_cast<Space>(random() % 3);
          break;
        case 12:
          it.source_copy = number();
          if (!it.pieces.empty()) it.pieces[0].copy = number();
          break;
      }
    }
    CheckPrograms(sample.claims, sample.programs);
  }
}

}  // namespace
}  // namespace dynatrain::transition
