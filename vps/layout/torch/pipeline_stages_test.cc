#include "vps/layout/torch/pipeline_stages.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> Ranks(const PipelineStages& stages) {
  std::vector<int> ranks;
  for (int stage = 0; stage < stages.num_stages(); ++stage) {
    ranks.push_back(stages.RankOf(stage));
  }
  return ranks;
}

void ExpectRefused(const absl::StatusOr<PipelineStages>& stages,
                   const char* why) {
  EXPECT_EQ(stages.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(stages.status().message()), HasSubstr(why));
}

// The vectors are those of torch's generate_stage_to_rank_mapping.
TEST(PipelineStages, ALoopGoesRound) {
  EXPECT_THAT(Ranks(*PipelineStages::Loop(0, 5, 2)),
              ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(Ranks(*PipelineStages::Loop(0, 2, 2)), ElementsAre(0, 1));
}

TEST(PipelineStages, AVTurnsBackAtEachEnd) {
  EXPECT_THAT(Ranks(*PipelineStages::V(0, 6, 3)),
              ElementsAre(0, 1, 2, 2, 1, 0));
  EXPECT_THAT(Ranks(*PipelineStages::V(0, 6, 2)),
              ElementsAre(0, 1, 1, 0, 0, 1));
}

TEST(PipelineStages, AMapOfOnesOwnIsTakenAsItIs) {
  const PipelineStages stages = *PipelineStages::Create(3, {1, 1, 0}, 2);
  EXPECT_EQ(stages.axis(), 3);
  EXPECT_THAT(Ranks(stages), ElementsAre(1, 1, 0));
}

TEST(PipelineStages, RefusesWithTheNumberThatIsWrong) {
  ExpectRefused(PipelineStages::Loop(0, 0, 2), "0 pipeline stages");
  ExpectRefused(PipelineStages::Loop(0, int64_t{1} << 40, 2), "from 1 to");
  ExpectRefused(PipelineStages::V(0, 5, 2), "such as 4 or 6");
  ExpectRefused(PipelineStages::V(0, 1, 2), "such as 2");
  ExpectRefused(PipelineStages::Create(0, {}, 2), "0 pipeline stages");
  ExpectRefused(PipelineStages::Create(0, {0, 2}, 2), "stage 1 is on rank 2");
  ExpectRefused(PipelineStages::Create(0, {-1}, 2), "stage 0 is on rank -1");
}

}  // namespace
}  // namespace dynatrain::vps
