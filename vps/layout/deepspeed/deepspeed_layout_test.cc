#include "vps/layout/deepspeed/deepspeed_layout.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/layout/regions_testutil.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// tests/oracle_deepspeed compares layouts with what DeepSpeed itself holds.

// a has 7 elements, b 4, on 2 ranks. Tensors of the layout: a/param, a/main,
// b/param, b/main.
DeepSpeedJob Job(int stage) {
  DeepSpeedJob job{.world = {.mesh = *Mesh::Create({{"dp", 2}})},
                   .stage = stage};
  for (const auto& [name, size] :
       std::vector<std::pair<std::string, int64_t>>{{"a", 7}, {"b", 4}}) {
    job.tensors.push_back(
        {.name = name, .shape = {size}, .states = {{"param"}, {"main"}}});
  }
  job.groups = {{.tensors = {0, 1}, .axes = {0}}};
  return job;
}

void ExpectRefused(const DeepSpeedJob& job, const char* why) {
  const absl::StatusOr<BufferedLayout> made = DeepSpeedLayout(job);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(why));
}

TEST(DeepSpeedLayout, StagesOneAndTwoPartitionTheGroupButNotTheParameters) {
  for (int stage : {1, 2}) {
    const BufferedLayout made = *DeepSpeedLayout(Job(stage));
    EXPECT_THAT(RegionsOf(made.layout, 1, 0), ElementsAre("[0:7] at 0"));
    EXPECT_THAT(RegionsOf(made.layout, 0, 1), ElementsAre("[0:6] at 0"));
    EXPECT_THAT(RegionsOf(made.layout, 1, 1), ElementsAre("[6:7] at 0"));
    EXPECT_THAT(RegionsOf(made.layout, 0, 3), IsEmpty());
    EXPECT_THAT(RegionsOf(made.layout, 1, 3), ElementsAre("[0:4] at 0"));
    EXPECT_THAT(made.layout.buffers(), ElementsAre("0/param", "0/main"));
    EXPECT_THAT(made.buffer_elements,
                ElementsAre(ElementsAre(12), ElementsAre(6)));
    EXPECT_EQ(made.layout.BufferOffset(1, 2, 0), 7);
    EXPECT_EQ(made.layout.BufferOffset(1, 3, 0), 1);
  }
}

TEST(DeepSpeedLayout, RoundRobinReordersTheRun) {
  DeepSpeedJob job = Job(1);
  job.tensors.push_back(
      {.name = "c", .shape = {3}, .states = {{"param"}, {"main"}}});
  job.groups[0].tensors = {0, 1, 2};
  job.round_robin_gradients = true;  // a c b
  const Layout layout = DeepSpeedLayout(job)->layout;
  EXPECT_EQ(layout.held(1, 0).flat.position, 0);
  EXPECT_EQ(layout.held(5, 0).flat.position, 7);
  EXPECT_EQ(layout.held(3, 0).flat.position, 10);
}

TEST(DeepSpeedLayout, StageThreeCutsEachParameterAndGroupsTheShards) {
  DeepSpeedJob job = Job(3);
  job.sub_group_size = 4;  // a's shard of 4 fills the first
  const BufferedLayout made = *DeepSpeedLayout(job);
  EXPECT_THAT(RegionsOf(made.layout, 1, 0), ElementsAre("[4:7] at 0"));
  EXPECT_THAT(RegionsOf(made.layout, 1, 3), ElementsAre("[2:4] at 0"));
  EXPECT_THAT(made.layout.buffers(), ElementsAre("param", "0/main", "1/main"));
  EXPECT_THAT(made.buffer_elements,
              ElementsAre(ElementsAre(6), ElementsAre(4), ElementsAre(2)));
  EXPECT_EQ(made.layout.BufferOffset(1, 2, 0), 4);
  EXPECT_EQ(made.layout.BufferOffset(1, 3, 0), 0);
}

TEST(DeepSpeedLayout, FrozenParametersAreWholeUntilStageThree) {
  for (int stage : {1, 3}) {
    DeepSpeedJob job = Job(stage);
    job.tensors[1].states = {{"param"}};
    job.groups[0].tensors = {0};
    job.frozen_axes = {0};
    const Layout layout = DeepSpeedLayout(job)->layout;
    EXPECT_THAT(RegionsOf(layout, 1, 2),
                ElementsAre(stage == 1 ? "[0:4] at 0" : "[2:4] at 0"));
  }
}

// a's 7 elements are 4 on tp 0 and 3 on tp 1; b is whole on both.
DeepSpeedJob UnevenJob(int stage) {
  DeepSpeedJob job = Job(stage);
  job.world.mesh = *Mesh::Create({{"dp", 2}, {"tp", 2}});
  job.tensors[0].cuts = {{.group = {{1}}}};
  return job;
}

TEST(DeepSpeedLayout, EachDataParallelGroupPartitionsItsOwn) {
  const Layout layout = DeepSpeedLayout(UnevenJob(1))->layout;
  // Runs of 8 and 7, padded to 8: b from 4 and from 3.
  EXPECT_THAT(RegionsOf(layout, 0, 1), ElementsAre("[0:4] at 0"));
  EXPECT_THAT(RegionsOf(layout, 1, 1), ElementsAre("[4:7] at 0"));
  EXPECT_THAT(RegionsOf(layout, 1, 3), ElementsAre("[0:1] at 0"));
  EXPECT_THAT(RegionsOf(layout, 3, 3), ElementsAre("[1:4] at 0"));
  EXPECT_EQ(layout.num_copies(3), 2);
  // Parameters are whole in the buffer of the group.
  EXPECT_EQ(layout.num_copies(2), 1);
  EXPECT_EQ(layout.BufferOffset(2, 2, 0), 4);
  EXPECT_EQ(layout.BufferOffset(3, 2, 0), 3);
}

// a's shards are of 2 on both; of c, 1 x 4 over tp, nothing is on tp 1.
TEST(DeepSpeedLayout, SubGroupsAreOfWhatARankHas) {
  DeepSpeedJob job = UnevenJob(3);
  job.tensors.push_back({.name = "c",
                         .shape = {1, 4},
                         .states = {{"param"}, {"main"}},
                         .cuts = {{.group = {{1}}}}});
  job.groups[0].tensors = {2, 0, 1};
  job.sub_group_size = 2;
  const Layout layout = DeepSpeedLayout(job)->layout;
  const int main = *layout.Find("b", "main");
  EXPECT_EQ(layout.buffers()[layout.BufferOf(0, main, 0)], "2/main");
  EXPECT_EQ(layout.buffers()[layout.BufferOf(1, main, 1)], "1/main");
  EXPECT_THAT(RegionsOf(layout, 1, *layout.Find("c", "main")), IsEmpty());
}

TEST(DeepSpeedLayout, RefusesWithTheFieldThatIsWrong) {
  DeepSpeedJob job = Job(4);
  ExpectRefused(job, "stage 4 of ZeRO; there are 1, 2 and 3");

  job = Job(2);
  job.world.pipeline = *PipelineStages::Loop(0, 2, 2);
  ExpectRefused(job, "incompatible with pipeline parallelism");

  job = Job(3);
  job.sub_group_size = 0;
  ExpectRefused(job, "sub_group_size 0 is below 1");

  job = Job(1);
  job.groups[0].axes = {};
  ExpectRefused(job, "groups[0]: there is no axis");

  job = Job(1);
  job.groups[0].axes = {1};
  ExpectRefused(job, "groups[0]: axis 1 is none of mesh dp2");

  // As often as that the product of its sizes is 2^64.
  job = Job(1);
  job.groups[0].axes.assign(64, 0);
  ExpectRefused(job, "groups[0]: axis \"dp\" is there twice");

  job = Job(3);
  job.frozen_axes = {0, 0};
  ExpectRefused(job, "frozen_axes: axis \"dp\" is there twice");

  job = Job(1);
  job.groups.push_back(job.groups[0]);
  ExpectRefused(job, "groups[1]: tensor a is in groups[0] already");

  job = Job(1);
  job.groups[0].tensors = {0};
  ExpectRefused(job, "tensor b has state \"main\", but is in no group");

  job = Job(1);
  job.groups[0].tensors = {0, 2};
  ExpectRefused(job, "groups[0]: tensor 2 is not in 0..1");

  job = Job(1);
  job.tensors[1].shape = {0};
  ExpectRefused(job, "tensor b has no elements");

  job = Job(1);
  job.tensors[1].states = {{"main"}};
  ExpectRefused(job, "tensor b has no state \"param\"");
}

}  // namespace
}  // namespace dynatrain::vps
