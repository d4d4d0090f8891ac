#include "transition/check/check.h"

#include <limits>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/sample_programs.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckTest, AcceptsRightPrograms) {
  std::mt19937_64 random = TestRandom(21);
  for (int i = 0; i < 200; ++i) {
    const Sample sample = MakeSample(random);
    const Violations violations = CheckPrograms(sample.claims, sample.programs);
    ASSERT_THAT(violations, IsEmpty());
    EXPECT_TRUE(StatusOf(violations).ok());
  }
}

TEST(CheckTest, NothingToDoIsRight) {
  EXPECT_THAT(CheckPrograms({.ranks = {{}, {}}}, {{.rank = 0}, {.rank = 1}}),
              IsEmpty());
}

TEST(CheckTest, StatusNamesTheFirstViolation) {
  Claims claims = {.ranks = {{}}};
  claims.item_bytes = {4};
  claims.ranks[0].target = {{0, *vps::Box::Whole({3})}};
  const absl::Status status = StatusOf(CheckPrograms(claims, {{.rank = 0}}));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              HasSubstr("gap: rank 0: tensor 0: 3 elements of [0:3] are never "
                        "written"));
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
  const vps::Box kHuge = *vps::Box::Whole({int64_t{1} << 62});
  for (int i = 0; i < 2000; ++i) {
    Sample sample = MakeSample(random);
    for (int k = 0; k < 3; ++k) {
      Program& program = sample.programs[random() % sample.programs.size()];
      if (program.operations.empty()) continue;
      Operation& it = program.operations[random() % program.operations.size()];
      switch (random() % 9) {
        case 0:
          it.kind = static_cast<OperationKind>(random() % 11);
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
          it.pieces.push_back({number(), kHuge});
          it.bytes = std::numeric_limits<int64_t>::max();
          break;
        case 7:
          it.pieces.clear();
          break;
        case 8:
          program.operations.resize(random() % program.operations.size());
          break;
      }
    }
    CheckPrograms(sample.claims, sample.programs);
  }
}

}  // namespace
}  // namespace dynatrain::transition
