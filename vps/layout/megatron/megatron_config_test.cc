#include "vps/layout/megatron/megatron_config.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/families.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::HasSubstr;

TEST(MegatronConfig, HasBucketsOnlyInTheFirstChunkOfTheFirstStage) {
  MegatronOptions options = {.ranks = {.world = 8, .pp = 2}, .vpp = 2};
  EXPECT_EQ(MegatronConfig::Create(options)->BucketSize(0, 0), std::nullopt);
  options.overlap_grad_reduce = true;
  EXPECT_EQ(MegatronConfig::Create(options)->BucketSize(0, 0), 40'000'000);
  EXPECT_EQ(MegatronConfig::Create(options)->BucketSize(0, 1), std::nullopt);
  EXPECT_EQ(MegatronConfig::Create(options)->BucketSize(1, 0), std::nullopt);
  options.bucket_size = 500;
  EXPECT_EQ(MegatronConfig::Create(options)->BucketSize(0, 0), 500);
  options.overlap_param_gather_with_optimizer_step = true;
  EXPECT_EQ(MegatronConfig::Create(options)->BucketSize(0, 0), std::nullopt);
  // A million per data-parallel rank, context parallel not counted.
  const MegatronOptions wide = {.ranks = {.world = 200, .cp = 2},
                                .overlap_grad_reduce = true};
  EXPECT_EQ(MegatronConfig::Create(wide)->BucketSize(0, 0), 100'000'000);
}

struct Refused {
  MegatronOptions options;
  std::string why;
};

TEST(MegatronConfig, RefusesWhatMegatronRefuses) {
  const Refused table[] = {
      {{.ranks = {.world = 3, .tp = 2}}, "world 3 is not divisible"},
      {{.ranks = {.world = 4, .optimizer_instances = 2},
        .distributed_optimizer = false},
       "optimizer_instances is 2 without distributed_optimizer"},
      {{.distributed_optimizer = false, .precision_aware_optimizer = true},
       "precision_aware_optimizer needs distributed_optimizer"},
      {{.overlap_param_gather_with_optimizer_step = true},
       "needs distributed_optimizer and overlap_grad_reduce"},
      {{.spec = LayerSpec::kLocal, .grouped_experts = true},
       "grouped_experts needs the Transformer-Engine spec"},
      {{.vocab_divisor = 0}, "vocab_divisor is 0"},
      {{.bucket_size = 0}, "bucket_size is 0"},
  };
  for (const Refused& row : table) {
    const auto config = MegatronConfig::Create(row.options);
    EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(config.status().message()), HasSubstr(row.why));
  }
}

TEST(MegatronConfig, MakesThePipelineOfAModel) {
  const ModelConfig model = *ModelConfig::Create({.hidden = 8,
                                                  .layers = 6,
                                                  .heads = 4,
                                                  .ffn = 16,
                                                  .vocabulary = 32,
                                                  .mtp_layers = 1});
  const MegatronConfig config = *MegatronConfig::Create(
      {.ranks = {.world = 2, .pp = 2}, .first_stage_layers = 2});
  const Pipeline pipeline = *config.PipelineOf(model);
  EXPECT_EQ(pipeline.chunk(1, 0), (ModelChunk{2, 4, 1}));
}

TEST(MegatronConfig, OverlapsTheGatherOnlyInAnInterleavedPipeline) {
  const ModelConfig model = *ModelConfig::Create(
      {.hidden = 8, .layers = 4, .heads = 4, .ffn = 16, .vocabulary = 32});
  MegatronOptions options = {.ranks = {.world = 2, .pp = 2},
                             .overlap_grad_reduce = true,
                             .overlap_param_gather_with_optimizer_step = true};
  const auto refused = MegatronConfig::Create(options)->PipelineOf(model);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("needs a vpp above 1"));
  options.vpp = 2;
  EXPECT_TRUE(MegatronConfig::Create(options)->PipelineOf(model).ok());
}

TEST(MegatronConfig, HybridsAreCutInPlainStagesAndMadeByTransformerEngine) {
  ModelNumbers numbers = FamilyFeatures(Family::kMambaHybrid);
  numbers.hidden = 8;
  numbers.layers = 4;
  numbers.heads = 4;
  numbers.ffn = 16;
  numbers.vocabulary = 32;
  numbers.experts.reset();
  numbers.mamba = MambaNumbers{
      .pattern = "M*M-", .heads = 4, .head_dim = 4, .groups = 2, .state = 4};
  const ModelConfig model = *ModelConfig::Create(numbers);
  const auto why = [&](const MegatronOptions& options) {
    const auto pipeline = MegatronConfig::Create(options)->PipelineOf(model);
    return std::string(pipeline.status().message());
  };
  EXPECT_EQ(why({.ranks = {.world = 2, .pp = 2}}), "");
  EXPECT_THAT(why({.ranks = {.world = 2, .pp = 2}, .vpp = 2}),
              HasSubstr("supports neither vpp above 1"));
  EXPECT_THAT(why({.spec = LayerSpec::kLocal}),
              HasSubstr("has only a Transformer-Engine spec"));
}

}  // namespace
}  // namespace dynatrain::vps::megatron
