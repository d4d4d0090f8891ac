#include "vps/layout/torch/flat_run.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// tests/oracle_torch compares the same arithmetic with FSDP1 itself.
TEST(FlatRun, WithoutAlignmentTensorsTouchAndShardsAreChunks) {
  const FlatRun run = *LayFlatParameter({10, 5}, 0, 2);
  EXPECT_THAT(run.positions, ElementsAre(0, 10));
  EXPECT_EQ(run.shard, 8);
}

TEST(FlatRun, AlignmentPadsBetweenTensorsAndToTheRanks) {
  const FlatRun run = *LayFlatParameter({10, 5}, 4, 2);
  EXPECT_THAT(run.positions, ElementsAre(0, 12));
  EXPECT_EQ(run.shard, 9);
  EXPECT_EQ(LayFlatParameter({10, 5}, 4, 4)->shard, 5);  // 17, padded to 20
}

TEST(FlatRun, ATensorMayHaveNoElementsOrBeSmallerThanTheRanks) {
  const FlatRun run = *LayFlatParameter({0, 3, 0}, 4, 8);
  EXPECT_THAT(run.positions, ElementsAre(0, 0, 4));
  EXPECT_EQ(run.shard, 1);
}

TEST(FlatRun, RefusesWhatIsEmptyOrTooLarge) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const auto& [elements, why] :
       std::vector<std::pair<std::vector<int64_t>, const char*>>{
           {{}, "no elements"},
           {{0, 0}, "no elements"},
           {{kMax, 1}, "63 bits"},
           {{kMax}, "63 bits"}}) {
    const auto run = LayFlatParameter(elements, 4, 2);
    EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(run.status().message()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace dynatrain::vps
