#include "vps/layout/megatron/tensor_parallel.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/families.h"
#include "vps/model/model_tensors.h"
#include "vps/model/presets.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::HasSubstr;

// "0" if rows are cut over tp, "e1" if columns over etp, "-" if it is whole.
std::string Text(const TensorCut& cut) {
  switch (cut.axis) {
    case TensorAxis::kNone:
      return "-";
    case TensorAxis::kTensor:
      return absl::StrCat(cut.dim);
    case TensorAxis::kExpertTensor:
      return absl::StrCat("e", cut.dim);
  }
  return "?";
}

// What is cut how, by the name within a layer.
std::map<std::string, std::string> Cuts(const ModelConfig& config, int layer,
                                        LayerSpec spec) {
  std::map<std::string, std::string> cuts;
  const std::string prefix = absl::StrCat("decoder.layers.", layer, ".");
  for (const ModelTensor& tensor : TensorsOf(config)) {
    if (tensor.layer == layer) {
      cuts[tensor.name.substr(prefix.size())] = Text(CutOf(tensor, spec));
    } else if (!tensor.layer.has_value()) {
      cuts[tensor.name] = Text(CutOf(tensor, spec));
    }
  }
  return cuts;
}

// MEGATRON_LAYOUT 6.2, row by row.
TEST(TensorParallel, CutsColumnParallelRowsAndRowParallelColumns) {
  const auto gpt = Cuts(*Preset("gpt3-1.3b"), 3, LayerSpec::kLocal);
  const std::map<std::string, std::string> expected = {
      {"embedding.word_embeddings.weight", "0"},
      {"embedding.position_embeddings.weight", "-"},
      {"decoder.final_layernorm.weight", "-"},
      {"decoder.final_layernorm.bias", "-"},
      {"input_layernorm.weight", "-"},
      {"input_layernorm.bias", "-"},
      {"pre_mlp_layernorm.weight", "-"},
      {"pre_mlp_layernorm.bias", "-"},
      {"self_attention.linear_proj.weight", "1"},
      {"self_attention.linear_proj.bias", "-"},
      {"self_attention.linear_qkv.weight", "0"},
      {"self_attention.linear_qkv.bias", "0"},
      {"mlp.linear_fc1.weight", "0"},
      {"mlp.linear_fc1.bias", "0"},
      {"mlp.linear_fc2.weight", "1"},
      {"mlp.linear_fc2.bias", "-"},
  };
  EXPECT_EQ(gpt, expected);
}

TEST(TensorParallel, CutsExpertsOverTheirOwnAxisAndSharedOnesNot) {
  auto cuts = Cuts(*Preset("deepseek-v3"), 5, LayerSpec::kLocal);
  EXPECT_EQ(cuts["mlp.experts.7.linear_fc1.weight"], "e0");
  EXPECT_EQ(cuts["mlp.experts.7.linear_fc2.weight"], "e1");
  EXPECT_EQ(cuts["mlp.shared_experts.linear_fc1.weight"], "0");
  EXPECT_EQ(cuts["mlp.shared_experts.linear_fc2.weight"], "1");
  EXPECT_EQ(cuts["mlp.router.weight"], "-");
  EXPECT_EQ(cuts["mlp.router.expert_bias"], "-");
  EXPECT_EQ(cuts["output_layer.weight"], "0");
  EXPECT_EQ(cuts["mtp.layers.0.eh_proj.weight"], "0");
  EXPECT_EQ(cuts["mtp.layers.0.enorm.weight"], "-");
}

TEST(TensorParallel, CutsCompressedProjectionsOnlyInTheLocalSpec) {
  for (const LayerSpec spec :
       {LayerSpec::kLocal, LayerSpec::kTransformerEngine}) {
    auto cuts = Cuts(*Preset("deepseek-v3"), 0, spec);
    const std::string down = spec == LayerSpec::kLocal ? "0" : "-";
    EXPECT_EQ(cuts["self_attention.linear_q_down_proj.weight"], down);
    EXPECT_EQ(cuts["self_attention.linear_kv_down_proj.weight"], down);
    EXPECT_EQ(cuts["self_attention.linear_q_up_proj.weight"], "0");
    EXPECT_EQ(cuts["self_attention.linear_kv_up_proj.weight"], "0");
    EXPECT_EQ(cuts["self_attention.linear_proj.weight"], "1");
    EXPECT_EQ(cuts["self_attention.q_layernorm.weight"], "-");
  }
}

ModelNumbers Hybrid() {
  ModelNumbers n = FamilyFeatures(Family::kMambaHybrid);
  n.hidden = 64;
  n.layers = 4;
  n.heads = 4;
  n.ffn = 96;
  n.vocabulary = 100;
  n.experts.reset();
  n.mamba = MambaNumbers{
      .pattern = "M*-M", .heads = 8, .head_dim = 16, .groups = 2, .state = 16};
  return n;
}

TEST(TensorParallel, CutsMambaBlocksByTheirChannels) {
  const ModelConfig config = *ModelConfig::Create(Hybrid());
  auto cuts = Cuts(config, 0, LayerSpec::kTransformerEngine);
  for (const char* name : {"dt_bias", "A_log", "D", "in_proj.weight",
                           "conv1d.weight", "conv1d.bias", "norm.weight"}) {
    EXPECT_EQ(cuts[absl::StrCat("mixer.", name)], "0") << name;
  }
  EXPECT_EQ(cuts["mixer.out_proj.weight"], "1");
  EXPECT_EQ(cuts["norm.weight"], "-");
}

struct Refused {
  ModelNumbers numbers;
  TensorSizes sizes;
  std::string why;
};

ModelNumbers Small() {
  return {.hidden = 48,
          .layers = 2,
          .heads = 12,
          .query_groups = 4,
          .ffn = 96,
          .vocabulary = 100};
}

template <typename Change>
ModelNumbers With(ModelNumbers numbers, Change change) {
  change(numbers);
  return numbers;
}

TEST(TensorParallel, RefusesUnequalSharesAndSaysWhatWouldDo) {
  const auto experts = [](int64_t count, int64_t ffn) {
    return With(Small(), [&](ModelNumbers& n) {
      n.experts = ExpertNumbers{.count = count, .ffn = ffn};
    });
  };
  const Refused table[] = {
      {Small(),
       {.tp = 5},
       "heads 12 must be a multiple of tp 5; the nearest "
       "that are: 10 and 15"},
      {Small(),
       {.tp = 24},
       "heads 12 must be a multiple of tp 24; the nearest "
       "that is: 24"},
      {Small(),
       {.tp = 6},
       "query_groups 4 must be a multiple or divisor of tp "
       "6; the nearest that is: 6"},
      // 4 divides 12, but not so the rows of q, k and v.
      {Small(),
       {.tp = 12},
       "(heads + 2 * query_groups) * head_dim: 80 is not divisible by tp 12"},
      {With(Small(), [](ModelNumbers& n) { n.ffn = 98; }),
       {.tp = 4},
       "ffn: 98 is not divisible by tp 4 (decoder.layers.0.mlp.linear_fc1."
       "weight); the nearest that are: 96 and 100"},
      {Small(), {.ep = 2}, "ep is 2, but the model has no experts"},
      {experts(6, 64),
       {.ep = 4},
       "experts.count 6 is not divisible by ep 4; "
       "the nearest that are: 4 and 8"},
      {With(experts(6, 64), [](ModelNumbers& n) { n.bias = true; }),
       {.etp = 2},
       "etp is 2, but bias in experts is only supported when etp is 1"},
      {experts(6, 63), {.etp = 2}, "experts.ffn: 63 is not divisible by etp 2"},
      {With(Small(),
            [](ModelNumbers& n) {
              n.mtp_layers = 1;
              n.heads = 9;
              n.query_groups = 9;
              n.head_dim = 4;
              n.hidden = 50;
              n.ffn = 90;
            }),
       {.tp = 3},
       "hidden: 50 is not divisible by tp 3"},
      {Hybrid(), {.tp = 4}, "mamba.groups 2 is not divisible by tp 4"},
  };
  for (const Refused& row : table) {
    const ModelConfig config = *ModelConfig::Create(row.numbers);
    const absl::Status status = CheckTensorParallel(
        config, TensorsOf(config), LayerSpec::kLocal, row.sizes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.why));
  }
}

// Fewer groups than tp, and sizes that are no powers of two.
TEST(TensorParallel, TakesWhatMegatronTakes) {
  const ModelConfig config = *ModelConfig::Create(Small());
  for (const int64_t tp : {1, 2, 4}) {
    EXPECT_TRUE(CheckTensorParallel(config, TensorsOf(config),
                                    LayerSpec::kLocal, {.tp = tp})
                    .ok())
        << tp;
  }
  const ModelConfig six = *ModelConfig::Create(
      With(Small(), [](ModelNumbers& n) { n.query_groups = 6; }));
  for (const int64_t tp : {3, 6, 12}) {
    EXPECT_TRUE(
        CheckTensorParallel(six, TensorsOf(six), LayerSpec::kLocal, {.tp = tp})
            .ok())
        << tp;
  }
}

}  // namespace
}  // namespace dynatrain::vps::megatron
