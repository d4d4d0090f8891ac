#include "transition/schedule/traffic.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TrafficTest, SortsAndSumsItsFlows) {
  const auto traffic = Traffic::Create(3, {{2, 0, 5}, {0, 2, 7}, {0, 1, 1}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_THAT(traffic->flows(),
              ElementsAre(Flow{0, 1, 1}, Flow{0, 2, 7}, Flow{2, 0, 5}));
  EXPECT_EQ(traffic->total_bytes(), 13);
}

TEST(TrafficTest, FiltersFlows) {
  const Traffic traffic = *Traffic::Create(3, {{2, 0, 5}, {0, 2, 7}});
  const Traffic some =
      traffic.Filter([](const Flow& flow) { return flow.sender == 2; });
  EXPECT_EQ(some, *Traffic::Create(3, {{2, 0, 5}}));
}

TEST(TrafficTest, RefusesWhatIsNoTraffic) {
  const struct {
    int num_ranks;
    std::vector<Flow> flows;
    const char* error;
  } kCases[] = {
      {0, {}, "traffic has 0 ranks"},
      {2, {{0, 2, 1}}, "rank 2; ranks are 0 to 1"},
      {2, {{-1, 1, 1}}, "rank -1"},
      {2, {{1, 1, 1}}, "stays on its rank"},
      {2, {{0, 1, 0}}, "has 0 bytes"},
      {2, {{0, 1, 3}, {1, 0, 3}, {0, 1, 4}}, "given twice"},
  };
  for (const auto& it : kCases) {
    const auto traffic = Traffic::Create(it.num_ranks, it.flows);
    EXPECT_EQ(traffic.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(traffic.status().message(), HasSubstr(it.error));
  }
  EXPECT_EQ(
      Traffic::Create(3, {{0, 1, kMaxTrafficBytes}, {0, 2, 1}}).status().code(),
      absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace dynatrain::transition
