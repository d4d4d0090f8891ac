#include "vps/layout/megatron/megatron_layout.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/layout/regions_testutil.h"
#include "vps/model/presets.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelNumbers Small() {
  return {.hidden = 8, .layers = 4, .heads = 4, .ffn = 16, .vocabulary = 30};
}

StateList Mixed() { return *StateList::Preset("bf16-mixed"); }

MegatronLayout Make(const ModelNumbers& numbers, MegatronOptions options,
                    const StateList& states = Mixed()) {
  return *MakeMegatronLayout(*ModelConfig::Create(numbers),
                             *MegatronConfig::Create(std::move(options)),
                             states);
}

std::vector<std::string> RegionsOf(const MegatronLayout& job, int rank,
                                   const std::string& name,
                                   const std::string& state) {
  std::vector<std::string> texts;
  const int tensor = *job.layout().Find(name, state);
  job.layout().ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
    texts.push_back(
        absl::StrCat("copy ", region.copy, " ", RegionText(region)));
  });
  return texts;
}

TEST(MegatronLayout, CutsGatedRowsInTwoBlocks) {
  const MegatronLayout job = Make(Small(), {.ranks = {.world = 2, .tp = 2}});
  EXPECT_THAT(
      RegionsOf(job, 1, "decoder.layers.2.mlp.linear_fc1.weight", "param"),
      ElementsAre("copy 0 [8:16, 0:8] at 0", "copy 0 [24:32, 0:8] at 64"));
}

// MEGATRON_LAYOUT 6.5: one copy without a pipeline, two with one.
TEST(MegatronLayout, TiedEmbeddingsAreTwoCopiesOfOneTensor) {
  ModelNumbers numbers = Small();
  numbers.tied = true;
  const std::string name = "embedding.word_embeddings.weight";
  const MegatronLayout one = Make(numbers, {});
  EXPECT_EQ(one.layout().num_copies(*one.layout().Find(name, "main")), 1);
  const MegatronLayout job =
      Make(numbers, {.ranks = {.world = 4, .pp = 4}, .vocab_divisor = 1});
  const int tensor = *job.layout().Find(name, "main");
  ASSERT_EQ(job.layout().num_copies(tensor), 2);
  EXPECT_EQ(job.LiveName(tensor, 0), "0/embedding.word_embeddings.weight");
  EXPECT_EQ(job.LiveName(tensor, 1), "0/output_layer.weight");
  EXPECT_THAT(RegionsOf(job, 0, name, "main"),
              ElementsAre("copy 0 [0:30, 0:8] at 0"));
  EXPECT_THAT(RegionsOf(job, 3, name, "main"),
              ElementsAre("copy 1 [0:30, 0:8] at 0"));
  EXPECT_THAT(RegionsOf(job, 1, name, "main"), ElementsAre());
}

TEST(MegatronLayout, PadsTheVocabularyToItsTensorParallelism) {
  const MegatronLayout job = Make(Small(), {.ranks = {.world = 4, .tp = 4}});
  const TensorSpec& spec =
      job.layout().tensor(*job.layout().Find("output_layer.weight", "exp_avg"));
  EXPECT_THAT(spec.shape(), ElementsAre(512, 8));
  EXPECT_EQ(spec.pad_from(), 30);
}

TEST(MegatronLayout, SaysWhereAParameterLiesInItsBuffer) {
  const MegatronLayout job = Make(Small(), {.ranks = {.world = 4, .pp = 2},
                                            .spec = LayerSpec::kLocal,
                                            .vocab_divisor = 1,
                                            .overlap_grad_reduce = true,
                                            .bucket_size = 300});
  // Rank 3 is on the second stage, which has one bucket whatever the size.
  const auto buffers = job.Buffers(3);
  ASSERT_EQ(buffers.size(), 1);
  EXPECT_EQ(buffers[0].name, "0/dense/bfloat16");
  EXPECT_EQ(buffers[0].flat.buckets().size(), 1);
  EXPECT_GT(job.Buffers(0)[0].flat.buckets().size(), 1);
  EXPECT_EQ(buffers[0].live_names.back(), "0/output_layer.weight");
  EXPECT_EQ(buffers[0].flat.slots().back(), (FlatSlot{0, 240, 0}));
  const Layout& layout = job.layout();
  const int output = *layout.Find("output_layer.weight", "param");
  const int norm = *layout.Find("decoder.final_layernorm.weight", "param");
  EXPECT_EQ(layout.BufferOffset(3, output, 0), 0);
  EXPECT_EQ(layout.BufferOffset(3, norm, 0), 256);
  EXPECT_EQ(layout.buffers()[layout.held(norm, 0).storage.buffer],
            "0/dense/bfloat16");
}

TEST(MegatronLayout, ShardsWhatTheOptimizerKeepsAndNotTheWeights) {
  const MegatronLayout job = Make(
      Small(),
      {.ranks = {.world = 4}, .spec = LayerSpec::kLocal, .vocab_divisor = 1});
  const std::string name = "output_layer.weight";
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_THAT(RegionsOf(job, rank, name, "param"),
                ElementsAre("copy 0 [0:30, 0:8] at 0"));
    EXPECT_EQ(RegionsOf(job, rank, name, "exp_avg").empty(), rank > 0);
  }
}

TEST(MegatronLayout, WithoutTheDistributedOptimizerAllHoldAll) {
  const MegatronLayout job = Make(
      Small(), {.ranks = {.world = 4}, .distributed_optimizer = false},
      *StateList::Parse({"param:bfloat16", "main:float32", "grad:float32"}));
  const std::string name = "output_layer.weight";
  for (const char* state : {"param", "main", "grad"}) {
    EXPECT_THAT(RegionsOf(job, 3, name, state),
                ElementsAre("copy 0 [0:128, 0:8] at 0"));
  }
  const Layout& layout = job.layout();
  EXPECT_EQ(layout.held(*layout.Find(name, "param"), 0).storage.buffer,
            Storage::kOwnTensor);
  EXPECT_EQ(
      layout
          .buffers()[layout.held(*layout.Find(name, "grad"), 0).storage.buffer],
      "0/dense/bfloat16/grad");
}

ModelNumbers WithExperts() {
  ModelNumbers numbers = Small();
  numbers.experts = ExpertNumbers{.count = 4, .ffn = 8, .correction = true};
  return numbers;
}

TEST(MegatronLayout, KeepsExpertsInTheirOwnBuffersIfThereAreExpertRanks) {
  const MegatronOptions two = {.ranks = {.world = 4, .ep = 2}};
  const MegatronLayout job = Make(WithExperts(), two);
  ASSERT_EQ(job.Buffers(0).size(), 2);
  EXPECT_EQ(job.Buffers(0)[1].name, "0/expert/bfloat16");
  EXPECT_EQ(job.Buffers(0)[1].live_names.front(),
            "0/decoder.layers.0.mlp.experts.local_experts.0.linear_fc1.weight");
  const std::string third = "decoder.layers.1.mlp.experts.2.linear_fc2.weight";
  EXPECT_THAT(RegionsOf(job, 0, third, "param"), ElementsAre());
  EXPECT_THAT(RegionsOf(job, 1, third, "param"),
              ElementsAre("copy 0 [0:8, 0:8] at 0"));
  EXPECT_EQ(job.LiveName(*job.layout().Find(third, "param"), 0),
            "0/decoder.layers.1.mlp.experts.local_experts.0.linear_fc2.weight");
  EXPECT_EQ(Make(WithExperts(), {.ranks = {.world = 4}}).Buffers(0).size(), 1);
}

TEST(MegatronLayout, CarriesTheRoutersCorrectionOnAllRanksOfItsStage) {
  const MegatronLayout job =
      Make(WithExperts(), {.ranks = {.world = 4, .pp = 2, .ep = 2}});
  const std::string name = "decoder.layers.3.mlp.router.expert_bias";
  EXPECT_THAT(RegionsOf(job, 1, name, "buffer"), ElementsAre());
  EXPECT_THAT(RegionsOf(job, 2, name, "buffer"),
              ElementsAre("copy 0 [0:4] at 0"));
  EXPECT_THAT(RegionsOf(job, 3, name, "buffer"),
              ElementsAre("copy 0 [0:4] at 0"));
  EXPECT_EQ(job.layout().tensor(*job.layout().Find(name, "buffer")).dtype(),
            Dtype::kFloat32);
}

// Which parameters are apart is a rule of the version.
TEST(MegatronLayout, FollowsTheVersionsRuleForExpertsCutOtherwise) {
  MegatronOptions options = {.ranks = {.world = 4, .tp = 2, .etp = 1}};
  EXPECT_EQ(Make(WithExperts(), options).Buffers(0).size(), 1);
  options.version = *FindMegatronVersion("0.20.0");
  EXPECT_EQ(Make(WithExperts(), options).Buffers(0).size(), 2);
}

TEST(MegatronLayout, KeepsEightBitWeightsInBuffersOfBytes) {
  const MegatronLayout job = Make(Small(), {}, *StateList::Preset("fp8"));
  ASSERT_EQ(job.Buffers(0).size(), 2);
  EXPECT_EQ(job.Buffers(0)[0].name, "0/dense/bfloat16");
  EXPECT_EQ(job.Buffers(0)[1].name, "0/dense/uint8");
}

// One scale for a weight of which each rank has a part; none of what stays
// wide.
TEST(MegatronLayout, GivesEachRankTheWholeScaleOfAnEightBitWeight) {
  const MegatronLayout job = Make(Small(), {.ranks = {.world = 2, .tp = 2}},
                                  *StateList::Preset("fp8"));
  const Layout& layout = job.layout();
  const std::string fc1 = "decoder.layers.2.mlp.linear_fc1.weight";
  const int codes = *layout.Find(fc1, "param");
  EXPECT_EQ(layout.tensor(codes).dtype(), Dtype::kUint8);
  EXPECT_EQ(layout.buffers()[layout.held(codes, 0).storage.buffer],
            "0/dense/uint8");
  EXPECT_THAT(
      RegionsOf(job, 1, fc1, "param"),
      ElementsAre("copy 0 [8:16, 0:8] at 0", "copy 0 [24:32, 0:8] at 64"));
  const int scale = *layout.Find(fc1, "scale_inv");
  EXPECT_EQ(layout.tensor(scale).dtype(), Dtype::kFloat32);
  EXPECT_THAT(layout.tensor(scale).shape(), ElementsAre(1));
  EXPECT_EQ(layout.held(scale, 0).storage, Storage());
  for (const int rank : {0, 1}) {
    EXPECT_THAT(RegionsOf(job, rank, fc1, "scale_inv"),
                ElementsAre("copy 0 [0:1] at 0"));
  }
  EXPECT_EQ(layout.tensor(*layout.Find(fc1, "main")).dtype(), Dtype::kFloat32);
  EXPECT_EQ(layout.Find("output_layer.weight", "scale_inv"), std::nullopt);
  EXPECT_EQ(layout.tensor(*layout.Find("output_layer.weight", "param")).dtype(),
            Dtype::kBfloat16);
}

// [gate; up] has 4 + 4 rows of blocks; a rank has those of its own rows.
TEST(MegatronLayout, CutsTheScalesOfBlocksAsTheirWeights) {
  ModelNumbers numbers = Small();
  numbers.hidden = 256;
  numbers.ffn = 512;
  const MegatronLayout job = Make(numbers, {.ranks = {.world = 2, .tp = 2}},
                                  *StateList::Preset("fp8-block"));
  const std::string fc1 = "decoder.layers.2.mlp.linear_fc1.weight";
  EXPECT_THAT(RegionsOf(job, 1, fc1, "param"),
              ElementsAre("copy 0 [256:512, 0:256] at 0",
                          "copy 0 [768:1024, 0:256] at 65536"));
  EXPECT_THAT(RegionsOf(job, 1, fc1, "scale_inv"),
              ElementsAre("copy 0 [2:4, 0:2] at 0", "copy 0 [6:8, 0:2] at 4"));
}

struct Refused {
  ModelNumbers numbers;
  MegatronOptions options;
  std::vector<std::string> states;
  std::string why;
};

TEST(MegatronLayout, RefusesWhatHasNoLayout) {
  const std::vector<std::string> wide = {"param:float32", "exp_avg:float32"};
  const Refused table[] = {
      {Small(),
       {.ranks = {.world = 3, .pp = 3}},
       wide,
       "layers 4 is not divisible by pp 3"},
      {Small(),
       {.ranks = {.world = 8, .tp = 8}},
       wide,
       "heads 4 must be a multiple of tp 8"},
      {WithExperts(),
       {.ranks = {.world = 3, .ep = 3}},
       wide,
       "experts.count 4 is not divisible by ep 3"},
      {Small(),
       {},
       {"param:float32", "main:float32"},
       "keeps no second float32 copy"},
      {Small(),
       {},
       {"param:bfloat16", "exp_avg:bfloat16"},
       "exp_avg:bfloat16 needs precision_aware_optimizer"},
      {WithExperts(),
       {.ranks = {.world = 2, .etp = 2}},
       wide,
       "etp 2 with ep 1 and tp 1"},
  };
  for (const Refused& row : table) {
    const auto job = MakeMegatronLayout(*ModelConfig::Create(row.numbers),
                                        *MegatronConfig::Create(row.options),
                                        *StateList::Parse(row.states));
    EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(job.status().message()), HasSubstr(row.why));
  }
  const auto blocks = MakeMegatronLayout(
      *ModelConfig::Create(Small()),
      *MegatronConfig::Create({.ranks = {.world = 2, .tp = 2}}),
      *StateList::Preset("fp8-block"));
  EXPECT_THAT(std::string(blocks.status().message()),
              HasSubstr("would cut through blocks of 128"));
}

TEST(MegatronLayout, TakesOtherDtypesWithThePrecisionAwareOptimizer) {
  const MegatronLayout job =
      Make(Small(), {.precision_aware_optimizer = true},
           *StateList::Parse({"param:bfloat16", "main:int16", "exp_avg:uint8",
                              "exp_avg_sq:bfloat16"}));
  EXPECT_EQ(job.layout()
                .tensor(*job.layout().Find("output_layer.weight", "main"))
                .dtype(),
            Dtype::kInt16);
}

// Any numbers are refused or laid out, whatever overflows on the way.
TEST(MegatronLayout, SurvivesAnyNumbers) {
  auto random = TestRandom();
  const std::vector<int64_t> odd = {std::numeric_limits<int64_t>::min(),
                                    -1,
                                    0,
                                    1,
                                    1,
                                    2,
                                    2,
                                    3,
                                    4,
                                    int64_t{1} << 20,
                                    int64_t{1} << 31,
                                    int64_t{1} << 62,
                                    std::numeric_limits<int64_t>::max()};
  const auto any = [&] { return odd[random() % odd.size()]; };
  const auto any_or = [&](int64_t usual) {
    return random() % 4 == 0 ? any() : usual;
  };
  const ModelConfig model = *ModelConfig::Create(WithExperts());
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    MegatronOptions options = {
        .ranks = {.world = any_or(8),
                  .tp = any_or(1),
                  .cp = any_or(1),
                  .pp = any_or(2),
                  .ep = any_or(2),
                  .etp = any_or(0),
                  .optimizer_instances = any_or(1)},
        .vpp = any_or(1),
        .pipeline_layout = random() % 4 == 0 ? "Et*2|t*2L" : "",
        .vocab_divisor = any_or(1),
        .overlap_grad_reduce = true,
        .bucket_size = any_or(100)};
    if (random() % 4 == 0) options.first_stage_layers = any();
    if (random() % 4 == 0) options.last_stage_layers = any();
    const auto config = MegatronConfig::Create(options);
    if (!config.ok()) continue;
    accepted += MakeMegatronLayout(model, *config, Mixed()).ok();
  }
  EXPECT_GT(accepted, 100);
}

// What the big ones cost is told by bench/layout_bench.cc.
TEST(MegatronLayout, HoldsTheWorldsOfBigModels) {
  const ModelConfig qwen = *Preset("qwen3-235b-a22b");
  const MegatronConfig at128 = *MegatronConfig::Create(
      {.ranks = {.world = 128, .tp = 4, .pp = 8, .ep = 8, .etp = 1},
       .first_stage_layers = 11,
       .last_stage_layers = 11,
       .grouped_experts = true});
  EXPECT_EQ(MakeMegatronLayout(qwen, at128, Mixed())->layout().world_size(),
            128);
  const ModelConfig deepseek = *Preset("deepseek-v3");
  const MegatronConfig at16k = *MegatronConfig::Create(
      {.ranks = {.world = 16384, .tp = 2, .pp = 16, .ep = 64, .etp = 1},
       .pipeline_layout = "Et*3|(tt|)*29,m|L",
       .grouped_experts = true});
  const MegatronLayout job = *MakeMegatronLayout(deepseek, at16k, Mixed());
  EXPECT_EQ(job.layout().world_size(), 16384);
  int64_t elements = 0;
  job.layout().ForEachRegion(16383, [&](const OwnedRegion& region) {
    elements += region.global.num_elements();
  });
  EXPECT_GT(elements, 0);
}

}  // namespace
}  // namespace dynatrain::vps::megatron
