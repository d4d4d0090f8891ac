#include "api/layout_file/torch_section.h"

#include <string>

#include "api/json/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vps::Cut;
using vps::Dtype;
using vps::TorchState;

absl::StatusOr<vps::TorchJob> Read(const std::string& text,
                                   const TorchDefaults& defaults = {}) {
  return ReadTorchSection(*ParseJson(text), "torch", defaults);
}

// A job of one tensor with these fields, on dp2,tp2.
std::string OneTensor(const std::string& fields) {
  return R"j({"mesh": "dp2,tp2", "tensors": [{"name": "w", "shape": [8, 4], )j" +
         fields + "}]}";
}

TEST(TorchSection, ReadsTensorsWithPlacementsOrSplits) {
  const vps::TorchJob job = *Read(R"j({"mesh": "dp2, tp2", "tensors": [
      {"name": "w", "shape": [8, 4], "placements": ["_S(0, 2)", "S(0)"]},
      {"name": "v", "shape": [8], "splits": [{"axis": "tp", "dim": 0},
                                             {"axis": "dp", "dim": 0}]},
      {"name": "n", "shape": [], "state": "buffer", "dtype": "int64"}]})j");
  EXPECT_EQ(job.world.mesh.DebugString(), "dp2,tp2");
  ASSERT_EQ(job.tensors.size(), 3);
  EXPECT_THAT(job.tensors[0].cuts,
              ElementsAre(Cut{.group = {{0}}, .dim = 0, .num_blocks = 2},
                          Cut{.group = {{1}}, .dim = 0}));
  EXPECT_THAT(job.tensors[1].cuts, ElementsAre(Cut{.group = {{1}}, .dim = 0},
                                               Cut{.group = {{0}}, .dim = 0}));
  EXPECT_THAT(job.tensors[2].cuts, IsEmpty());
  EXPECT_THAT(job.tensors[2].states,
              ElementsAre(TorchState{"buffer", Dtype::kInt64}));
}

TEST(TorchSection, StatesAndMeshComeFromTheFileUnlessGiven) {
  const TorchDefaults defaults{
      .mesh = *vps::Mesh::Create({{"dp", 4}}),
      .states = {{"param", Dtype::kBfloat16}, {"main", Dtype::kFloat32}}};
  const vps::TorchJob job = *Read(R"j({"tensors": [
      {"name": "w", "shape": [8]},
      {"name": "v", "shape": [8], "states": ["param:float16"]}]})j",
                                  defaults);
  EXPECT_EQ(job.world.mesh.DebugString(), "dp4");
  EXPECT_EQ(job.tensors[0].states, defaults.states);
  EXPECT_THAT(job.tensors[1].states,
              ElementsAre(TorchState{"param", Dtype::kFloat16}));
  EXPECT_THAT(
      Read(R"j({"mesh": "dp1", "tensors": [{"name": "w", "shape": []}]})j")
          ->tensors[0]
          .states,
      ElementsAre(TorchState{}));
}

TEST(TorchSection, ReadsPipelinesInEachForm) {
  const std::string rest =
      R"j("tensors": [{"name": "w", "shape": [8], "stages": [1, 2]},
                     {"name": "v", "shape": [8], "stage": 3}]})j";
  const vps::TorchJob job = *Read(
      R"j({"mesh": "pp2", "pipeline": {"stages": 4, "style": "v"}, )j" + rest);
  ASSERT_TRUE(job.world.pipeline.has_value());
  EXPECT_EQ(job.world.pipeline->RankOf(3), 0);
  EXPECT_THAT(job.tensors[0].stages, ElementsAre(1, 2));
  EXPECT_THAT(job.tensors[1].stages, ElementsAre(3));
  const vps::TorchJob mapped = *Read(
      R"j({"mesh": "x2", "pipeline": {"axis": "x", "ranks": [1, 0, 0, 1]}, )j" +
      rest);
  ASSERT_TRUE(mapped.world.pipeline.has_value());
  EXPECT_EQ(mapped.world.pipeline->RankOf(0), 1);
}

TEST(TorchSection, ReadsFlatParameters) {
  const vps::TorchJob job = *Read(R"j({"mesh": "rep2,dp2", "tensors": [
      {"name": "a", "shape": [8]}, {"name": "b", "shape": [8]}],
      "flat_parameters": [{"name": "u", "tensors": ["b", "a"],
          "use_orig_params": true, "compute_dtype": "bfloat16"},
          {"tensors": [], "axes": []}]})j");
  ASSERT_EQ(job.flat_parameters.size(), 2);
  const vps::FlatParameter& unit = job.flat_parameters[0];
  EXPECT_EQ(unit.name, "u");
  EXPECT_THAT(unit.tensors, ElementsAre(1, 0));
  EXPECT_THAT(unit.axes, ElementsAre(1));  // dp
  EXPECT_TRUE(unit.use_orig_params);
  EXPECT_EQ(unit.compute_dtype, Dtype::kBfloat16);
  EXPECT_THAT(job.flat_parameters[1].axes, IsEmpty());
}

TEST(TorchSection, RefusesWithThePathOfTheField) {
  const std::pair<std::string, const char*> table[] = {
      {"[]", "torch: "},
      {"{}", "torch.mesh: is needed"},
      {R"j({"mesh": "dp2"})j", "tensors"},
      {R"j({"mesh": "dp", "tensors": []})j", "torch.mesh: \"dp\" is no axis"},
      {R"j({"mesh": "2", "tensors": []})j", "torch.mesh: \"2\" is no axis"},
      {R"j({"mesh": "dp0", "tensors": []})j", "size 0"},
      {R"j({"mesh": "dp2,dp2", "tensors": []})j", "twice"},
      {R"j({"mesh": 4, "tensors": []})j", "torch.mesh: 4 is not"},
      {R"j({"mesh": "dp2", "tensor": []})j", "did you mean tensors"},
      {R"j({"mesh": "dp2", "tensors": [{"shape": [8]}]})j", "torch.tensors[0]"},
      {R"j({"mesh": "pp2", "pipeline": {}, "tensors": []})j",
       "torch.pipeline: needs either stages"},
      {OneTensor(R"j("placements": ["R"])j"), "1 placements for the 2 axes"},
      {OneTensor(R"j("placements": ["R", "P"])j"),
       "placements[1]: P: the elements"},
      {OneTensor(R"j("placements": ["R", 3])j"),
       "placements[1]: 3 is not text"},
      {OneTensor(R"j("placements": ["R", "S(2)"])j"), "dim 2 is not in 0..1"},
      {OneTensor(R"j("splits": [{"axis": "ep", "dim": 0}])j"), "axis \"ep\""},
      {OneTensor(R"j("splits": [{"axis": "tp"}])j"), "splits[0]"},
      {OneTensor(R"j("splits": [], "placements": [])j"),
       "splits: not beside placements"},
      {OneTensor(R"j("states": ["param"])j"), "\"param\" is no state"},
      {OneTensor(R"j("states": ["param:float31"])j"), "float31"},
      {OneTensor(R"j("states": [], "state": "x")j"),
       "states: not beside state"},
      {OneTensor(R"j("stage": 1, "stages": [1])j"), "stage: not beside stages"},
      {R"j({"mesh": "dp2", "tensors": [{"name": "w", "shape": [-1]}]})j", "-1"},
      {R"j({"mesh": "dp2", "tensors": [{"name": "w", "shape":
          [1, 1, 1, 1, 1, 1, 1, 1, 1]}]})j",
       "more than 8 dims"},
      {R"j({"mesh": "dp2", "tensors": [{"name": "layer.weight", "shape": []}],
          "flat_parameters": [{"tensors": ["layer.weigth"]}]})j",
       "torch.flat_parameters[0].tensors[0]: \"layer.weigth\" names 0 of the "
       "tensors; exactly one is needed; did you mean layer.weight"},
      {R"j({"mesh": "dp2", "tensors": [], "flat_parameters":
          [{"tensors": [], "axes": ["pd"]}]})j",
       "torch.flat_parameters[0].axes[0]: \"pd\" is no axis of mesh dp2"},
  };
  for (const auto& [text, why] : table) {
    const absl::StatusOr<vps::TorchJob> job = Read(text);
    ASSERT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(job.status().message()), HasSubstr(why)) << text;
  }
}

}  // namespace
}  // namespace dynatrain::api
