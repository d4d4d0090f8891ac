#include "transition/preview/warnings.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/random_pair.h"

namespace dynatrain::transition {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

// One vector over the ranks of the source, replicated on those of the target.
Preview PreviewOf(int source, int target, int nics_per_node,
                  int max_list_ranks = 1024,
                  int64_t limit_bytes = int64_t{1} << 40,
                  StageMode mode = StageMode::kAuto) {
  PlanCase plan_case = {
      .axes = {"dp", "rep"},
      .tensors = {{.shape = {int64_t{1} << 30}, .splits = {{0, 0}}}},
      .source = {.sizes = {source, 1}, .ids = {}},
      .target = {.sizes = {1, target}, .ids = {}}};
  for (int i = 0; i < source; ++i) plan_case.source.ids.push_back(i + 1);
  for (int i = 0; i < target; ++i) plan_case.target.ids.push_back(i + 1);
  PreviewOptions options;
  options.schedule.max_list_ranks = max_list_ranks;
  options.staging = StagingOptions();
  options.staging->stages.limit_bytes = limit_bytes;
  options.staging->stages.mode = mode;
  return *MakePreview(
      *MakeInput(plan_case),
      *ClusterModel::Create({.num_nodes = 4,
                             .ranks_per_node = 2,
                             .nics_per_node = nics_per_node,
                             .inside_bytes_per_second = 100'000'000'000,
                             .nic_bytes_per_second = 10'000'000'000}),
      options);
}

std::vector<std::string> Codes(const Preview& preview) {
  std::vector<std::string> codes;
  for (const Warning& warning : WarningsOf(preview)) {
    codes.push_back(warning.code);
    EXPECT_THAT(warning.text, Not(IsEmpty()));
    EXPECT_EQ(warning.text.find('\n'), std::string::npos);
  }
  return codes;
}

TEST(WarningsTest, NothingIsWorthAWarningIfNothingMoves) {
  EXPECT_THAT(Codes(PreviewOf(1, 1, 1)), IsEmpty());
}

TEST(WarningsTest, SlowNetworkAndReplicasAreNamed) {
  const std::vector<std::string> codes = Codes(PreviewOf(4, 4, 1));
  EXPECT_THAT(codes, Contains("nic-bottleneck"));
  EXPECT_THAT(codes, Contains("replicated-state"));
  EXPECT_THAT(codes, Not(Contains("moved-above-minimum")));
}

TEST(WarningsTest, OneRankOfANodeThatReceivesAllUsesOneNic) {
  Preview preview = PreviewOf(4, 1, 2);
  EXPECT_THAT(Codes(preview), Contains("nic-imbalance"));
}

TEST(WarningsTest, ASenderFarAboveTheMeanIsNamed) {
  Preview preview = PreviewOf(8, 8, 1);
  EXPECT_THAT(Codes(preview), Not(Contains("unbalanced-sender")));
  preview.bytes.processes[3].sent_bytes *= 20;
  EXPECT_THAT(Codes(preview), Contains("unbalanced-sender"));
  // The rank of the cluster is named, not the process.
  std::swap(preview.place_of_process[3], preview.place_of_process[6]);
  EXPECT_THAT(
      WarningsOf(preview),
      Contains(testing::Field(&Warning::text,
                              testing::HasSubstr("rank 6 of the cluster"))));
}

TEST(WarningsTest, XorWhereThereIsNoListScheduleIsNamedIfItIsFarOff) {
  Preview preview = PreviewOf(8, 8, 1, /*max_list_ranks=*/0);
  for (LaneChoice& lane : preview.schedule.lanes) {
    lane.candidates[0].ordered_bytes = lane.bound_bytes;
  }
  EXPECT_THAT(Codes(preview), Not(Contains("xor-above-bound")));
  preview.schedule.lanes[1].candidates[0].ordered_bytes *= 2;
  EXPECT_THAT(Codes(preview), Contains("xor-above-bound"));
}

TEST(WarningsTest, MemoryThatIsNotKnownOrGivenBackEarlyIsNamed) {
  EXPECT_THAT(Codes(PreviewOf(2, 2, 1)), Not(Contains("memory-unknown")));
  EXPECT_THAT(Codes(PreviewOf(2, 2, 1, 1024, /*limit_bytes=*/0)),
              Contains("memory-unknown"));
  EXPECT_THAT(
      Codes(PreviewOf(2, 2, 1, 1024, int64_t{1} << 40, StageMode::kTight)),
      Contains("tight-mode"));
  Preview preview = PreviewOf(2, 2, 1);
  preview.staging.reset();
  EXPECT_THAT(Codes(preview), Contains("memory-unknown"));
}

TEST(WarningsTest, BytesThatGoTwiceAreNamed) {
  Preview preview = PreviewOf(2, 2, 1);
  --preview.bytes.total.minimal_bytes;
  EXPECT_THAT(Codes(preview), Contains("moved-above-minimum"));
}

}  // namespace
}  // namespace dynatrain::transition
