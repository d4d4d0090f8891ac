#include "vps/layout/torch/torch_layout.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/layout/regions_testutil.h"
#include "vps/layout/split_cuts.h"
#include "vps/layout/torch/dtensor_placement.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// tests/oracle_torch compares layouts with what PyTorch itself holds; here are
// the smallest examples of each kind, and what is refused.

TorchJob JobOn(std::vector<MeshAxis> axes) {
  return {.world = {.mesh = *Mesh::Create(std::move(axes))}};
}

TorchTensor Tensor(std::string name, std::vector<int64_t> shape) {
  return {.name = std::move(name), .shape = std::move(shape), .states = {{}}};
}

void ExpectRefused(const TorchJob& job, const char* why) {
  const absl::StatusOr<BufferedLayout> made = TorchLayout(job);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(why));
}

// 7 rows over tp 2 are 4 and 3; dp 3 then cuts 2 2 0 and 1 1 1. DTensor, by
// what FSDP2 reports, would give rank (dp 2, tp 0) the row that (dp 2, tp 1)
// has.
TEST(TorchLayout, Fsdp2CutsWhatTensorParallelismLeft) {
  TorchJob job = JobOn({{"dp", 3}, {"tp", 2}});
  job.tensors = {Tensor("done", {7}), Tensor("reported", {7})};
  job.tensors[0].cuts =
      *CutsOfSplits(job.world.mesh, 1, {{"tp", 0}, {"dp", 0}});
  job.tensors[1].cuts = *CutsOfPlacements(
      job.world.mesh, 1, {{.dim = 0, .split_factor = 2}, {.dim = 0}});
  const Layout layout = TorchLayout(job)->layout;
  EXPECT_THAT(RegionsOf(layout, 4, 0), IsEmpty());
  EXPECT_THAT(RegionsOf(layout, 5, 0), ElementsAre("[6:7] at 0"));
  EXPECT_THAT(RegionsOf(layout, 4, 1), ElementsAre("[6:7] at 0"));
  EXPECT_THAT(RegionsOf(layout, 5, 1), IsEmpty());
}

TEST(TorchLayout, AStridedShardMayHoldManySlices) {
  TorchJob job = JobOn({{"dp", 2}});
  job.tensors = {Tensor("w", {8})};
  job.tensors[0].cuts =
      *CutsOfPlacements(job.world.mesh, 1, {{.dim = 0, .split_factor = 4}});
  EXPECT_THAT(
      RegionsOf(TorchLayout(job)->layout, 1, 0),
      ElementsAre("[1:2] at 0", "[3:4] at 1", "[5:6] at 2", "[7:8] at 3"));
}

// Stages 0 to 3 on ranks 0 1 1 0.
TEST(TorchLayout, AStagesTensorIsOnItsRankAndATiedOneOnEach) {
  TorchJob job = JobOn({{"pp", 2}});
  job.world.pipeline = *PipelineStages::V(0, 4, 2);
  job.tensors = {Tensor("a", {2}), Tensor("tied", {2}), Tensor("same", {2})};
  job.tensors[0].stages = {2};
  job.tensors[1].stages = {1, 3};
  job.tensors[2].stages = {0, 3};  // one rank, one copy
  const Layout layout = TorchLayout(job)->layout;
  EXPECT_THAT(RegionsOf(layout, 0, 0), IsEmpty());
  EXPECT_THAT(RegionsOf(layout, 1, 0), ElementsAre("[0:2] at 0"));
  EXPECT_EQ(layout.num_copies(1), 2);
  EXPECT_EQ(layout.held(1, 0).at[0], 1);
  EXPECT_EQ(layout.num_copies(2), 1);
}

TorchJob Fsdp1Job(bool use_orig_params) {
  TorchJob job = JobOn({{"dp", 2}});
  job.tensors = {Tensor("a", {5, 2}), Tensor("b", {5})};
  for (TorchTensor& tensor : job.tensors) {
    tensor.states.push_back({.state = "exp_avg"});
  }
  job.flat_parameters = {{.name = "unit",
                          .tensors = {0, 1},
                          .axes = {0},
                          .use_orig_params = use_orig_params}};
  return job;
}

// a (0..10) and b (10..15), shards of 8.
TEST(TorchLayout, AFlatParameterIsCutAcrossItsTensors) {
  const BufferedLayout made = *TorchLayout(Fsdp1Job(false));
  EXPECT_THAT(RegionsOf(made.layout, 0, 0), ElementsAre("[0:4, 0:2] at 0"));
  EXPECT_THAT(RegionsOf(made.layout, 1, 0), ElementsAre("[4:5, 0:2] at 0"));
  EXPECT_THAT(RegionsOf(made.layout, 1, 2), ElementsAre("[0:5] at 0"));
  EXPECT_THAT(made.layout.buffers(), ElementsAre("unit/param", "unit/exp_avg"));
  EXPECT_THAT(made.buffer_elements,
              ElementsAre(ElementsAre(8), ElementsAre(8)));
  EXPECT_EQ(made.layout.BufferOffset(1, 2, 0), 2);
}

// Aligned to 16 bytes: a (0..10), b (12..17), 18 elements.
TEST(TorchLayout, WithOrigParamsTheOptimizerHasItsOwnTensors) {
  const BufferedLayout made = *TorchLayout(Fsdp1Job(true));
  EXPECT_THAT(RegionsOf(made.layout, 0, 0),
              ElementsAre("[0:4, 0:2] at 0", "[4:5, 0:1] at 8"));
  EXPECT_THAT(made.layout.buffers(), ElementsAre("unit/param"));
  EXPECT_THAT(made.buffer_elements, ElementsAre(ElementsAre(9)));
  EXPECT_EQ(made.layout.BufferOffset(1, 2, 0), 3);
  EXPECT_EQ(made.layout.held(1, 0).storage.buffer, Storage::kOwnTensor);
}

TEST(TorchLayout, TheAlignmentIsOfTheDtypeThatComputes) {
  TorchJob job = Fsdp1Job(true);
  job.flat_parameters[0].compute_dtype = Dtype::kBfloat16;
  // b begins at 16: 8 elements of two bytes.
  EXPECT_EQ(TorchLayout(job)->layout.held(2, 0).flat.position, 16);
}

TEST(TorchLayout, ListsBuffersWithTheTensorsThatARankHolds) {
  const BufferedLayout made = *TorchLayout(Fsdp1Job(true));
  const std::vector<ListedBuffer> buffers = ListBuffers(made, 1);
  ASSERT_EQ(buffers.size(), 1);
  EXPECT_EQ(buffers[0].elements, 9);
  EXPECT_THAT(buffers[0].tensors, ElementsAre(ListedBuffer::Entry{"a", 0, 1},
                                              ListedBuffer::Entry{"b", 3, 8}));
}

// b (0..5), a (8..18), shards of 9.
TEST(TorchLayout, ListsTensorsByPositionWhateverTheirOrderInTheJob) {
  TorchJob job = Fsdp1Job(true);
  job.flat_parameters[0].tensors = {1, 0};
  const std::vector<ListedBuffer> buffers = ListBuffers(*TorchLayout(job), 0);
  ASSERT_EQ(buffers.size(), 1);
  EXPECT_THAT(buffers[0].tensors, ElementsAre(ListedBuffer::Entry{"b", 0, 5},
                                              ListedBuffer::Entry{"a", 8, 9}));
}

TEST(TorchLayout, RefusesWhatTorchDoesAndWhatIsNotThere) {
  TorchJob job = Fsdp1Job(false);
  job.tensors[1].states[0].dtype = Dtype::kFloat16;
  ExpectRefused(job, "b is float16, the tensors before it are float32");

  job = Fsdp1Job(false);
  job.flat_parameters.push_back(job.flat_parameters[0]);
  ExpectRefused(job, "a is in flat parameter \"unit\" already");

  job = Fsdp1Job(false);
  job.tensors[0].states = {{.state = "buffer"}};
  ExpectRefused(job, "a has no state \"param\"");

  job = Fsdp1Job(false);
  job.flat_parameters[0].tensors = {2};
  ExpectRefused(job, "tensor 2 is not in 0..1");

  job = Fsdp1Job(false);
  job.flat_parameters[0].tensors = {};
  ExpectRefused(job, "flat parameter \"unit\": has no tensors");

  job = Fsdp1Job(false);
  job.flat_parameters[0].axes = {1};
  ExpectRefused(job, "axis 1 is none of mesh dp2");

  job = Fsdp1Job(false);
  job.flat_parameters[0].axes.assign(64, 0);
  ExpectRefused(job, "flat parameter \"unit\": axis \"dp\" is there twice");

  job = Fsdp1Job(false);
  job.tensors[0].cuts = {{.group = {{0}}, .dim = 2}};
  ExpectRefused(job, "tensor a is cut over axis \"dp\"");

  job = Fsdp1Job(false);
  job.flat_parameters[0].axes = {};
  job.tensors[0].cuts = {{.group = {{0}}, .dim = 2}};
  ExpectRefused(job,
                "tensor a: cuts[0]: dim 2 is not one of the 2 of shape [5, 2]");

  job = Fsdp1Job(false);
  job.tensors[0].stages = {0};
  ExpectRefused(job, "on different pipeline stages");
}

TEST(TorchLayout, RefusesStagesThatAreNone) {
  TorchJob job = JobOn({{"pp", 2}});
  job.tensors = {Tensor("a", {2})};
  job.tensors[0].stages = {1};
  ExpectRefused(job, "tensor a: is on stage 1 of a job without pipeline");
  job.world.pipeline = *PipelineStages::Loop(0, 2, 2);
  job.tensors[0].stages = {2};
  ExpectRefused(job, "tensor a: is on stage 2; the stages are 0..1");
}

// a's 5 rows are 3 on tp 0 and 2 on tp 1, so b, which is whole on both, lies at
// 6 of a run of 8 there, and at 4 of a run of 6 here: one copy for each.
TorchJob UnevenJob(std::vector<int> axes) {
  TorchJob job = JobOn({{"dp", 2}, {"tp", 2}});
  job.tensors = {Tensor("a", {5, 2}), Tensor("b", {2})};
  job.tensors[0].cuts = *CutsOfSplits(job.world.mesh, 2, {{"tp", 0}});
  job.flat_parameters = {
      {.name = "unit", .tensors = {0, 1}, .axes = std::move(axes)}};
  return job;
}

TEST(TorchLayout, AFlatParameterOfUnevenTensorsIsCutOnEachLaneByItself) {
  const BufferedLayout made = *TorchLayout(UnevenJob({0}));
  const Layout& layout = made.layout;
  EXPECT_THAT(RegionsOf(layout, 0, 0), ElementsAre("[0:2, 0:2] at 0"));
  EXPECT_THAT(RegionsOf(layout, 1, 0),
              ElementsAre("[3:4, 0:2] at 0", "[4:5, 0:1] at 2"));
  EXPECT_THAT(RegionsOf(layout, 2, 0), ElementsAre("[2:3, 0:2] at 0"));
  EXPECT_THAT(RegionsOf(layout, 3, 0), ElementsAre("[4:5, 1:2] at 0"));
  EXPECT_EQ(layout.num_copies(0), 1);
  EXPECT_EQ(layout.num_copies(1), 2);
  EXPECT_THAT(RegionsOf(layout, 2, 1), ElementsAre("[0:2] at 0"));
  EXPECT_THAT(RegionsOf(layout, 3, 1), ElementsAre("[0:2] at 0"));
  EXPECT_EQ(layout.BufferOffset(2, 1, 0), 2);
  EXPECT_EQ(layout.BufferOffset(3, 1, 1), 1);
  EXPECT_EQ(ListBuffers(made, 2)[0].elements, 4);
  EXPECT_EQ(ListBuffers(made, 3)[0].elements, 3);
}

// NO_SHARD: all is whole, only elsewhere, so that ranks of both lanes hold b
// together.
TEST(TorchLayout, WhatIsNotShardedIsOneCopyOnAllLanes) {
  const Layout layout = TorchLayout(UnevenJob({}))->layout;
  EXPECT_EQ(layout.num_copies(1), 1);
  EXPECT_EQ(layout.HoldersLike(3, 1, 0).size(), 4);
  EXPECT_EQ(layout.BufferOffset(2, 1, 0), 6);
  EXPECT_EQ(layout.BufferOffset(3, 1, 0), 4);
}

TEST(TorchLayout, RefusesToFlattenOverAnAxisThatCuts) {
  ExpectRefused(UnevenJob({0, 1}),
                "flat parameter \"unit\": tensor a is cut over axis \"tp\", "
                "over which the run that it lies in is");
}

}  // namespace
}  // namespace dynatrain::vps
