#include "vps/layout/sharding.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

TEST(Sharding, PrintsItsSplitsInOrder) {
  EXPECT_EQ(DebugString(Sharding{{"tp", 0}, {"dp", 1}}), "tp:0 dp:1");
  EXPECT_EQ(DebugString(Sharding{}), "replicated");
}

TEST(Sharding, MaySplitOneDimTwiceAndReplicateTheRest) {
  EXPECT_TRUE(ValidateSharding({{"tp", 0}, {"dp", 0}}, 1).ok());
  EXPECT_TRUE(ValidateSharding({}, 0).ok());
}

TEST(Sharding, RefusesWithTheIndexOfTheSplit) {
  const std::tuple<Sharding, int, const char*> table[] = {
      {{{"tp", 0}, {"cp", 0}}, 1, "splits[1]: axis \"cp\" is unknown"},
      {{{"tp", 2}}, 2, "splits[0]: dim 2 of axis tp is not in 0..1"},
      {{{"tp", -1}}, 2, "dim -1"},
      {{{"tp", 0}}, 0, "a scalar has no dim to split"},
      {{{"tp", 0}, {"dp", 0}, {"tp", 1}},
       2,
       "splits[2]: axis tp splits already at splits[0]"},
  };
  for (const auto& [sharding, dims, why] : table) {
    const absl::Status status = ValidateSharding(sharding, dims);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace dynatrain::vps
