#include "vps/layout/megatron/param_order.h"

#include <cstdint>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/families.h"
#include "vps/model/model_tensors.h"
#include "vps/model/random_config.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ParamOrder Order(const ModelConfig& model, const ParamOrder::Options& options,
                 Pipeline::Options pipeline = {}) {
  pipeline.layers = model->layers;
  pipeline.mtp_layers = model->mtp_layers;
  return ParamOrder(model, options, *Pipeline::Create(pipeline));
}

// A shared embedding has a '*'.
std::vector<std::string> Names(const ParamOrder& order, int stage = 0,
                               int chunk = 0) {
  std::vector<std::string> names;
  for (const LiveTensor& live : order.Chunk(stage, chunk)) {
    names.push_back(live.name + (live.shared_embedding ? "*" : ""));
  }
  return names;
}

ModelNumbers Small() {
  return {.hidden = 8, .layers = 1, .heads = 4, .ffn = 16, .vocabulary = 32};
}

const ParamOrder::Options kLocal = {.spec = LayerSpec::kLocal};

TEST(ParamOrder, OfALocalLayerHasNormsApart) {
  ModelNumbers numbers = Small();
  numbers.norm = Norm::kLayer;
  numbers.bias = true;
  numbers.positions = 16;
  EXPECT_THAT(
      Names(Order(*ModelConfig::Create(numbers), kLocal)),
      ElementsAre("embedding.word_embeddings.weight",
                  "embedding.position_embeddings.weight",
                  "decoder.layers.0.input_layernorm.weight",
                  "decoder.layers.0.input_layernorm.bias",
                  "decoder.layers.0.self_attention.linear_proj.weight",
                  "decoder.layers.0.self_attention.linear_proj.bias",
                  "decoder.layers.0.self_attention.linear_qkv.weight",
                  "decoder.layers.0.self_attention.linear_qkv.bias",
                  "decoder.layers.0.pre_mlp_layernorm.weight",
                  "decoder.layers.0.pre_mlp_layernorm.bias",
                  "decoder.layers.0.mlp.linear_fc1.weight",
                  "decoder.layers.0.mlp.linear_fc1.bias",
                  "decoder.layers.0.mlp.linear_fc2.weight",
                  "decoder.layers.0.mlp.linear_fc2.bias",
                  "decoder.final_layernorm.weight",
                  "decoder.final_layernorm.bias", "output_layer.weight"));
}

TEST(ParamOrder, OfATransformerEngineLayerHasNormsInsideLinearLayers) {
  ModelNumbers numbers = Small();
  numbers.norm = Norm::kLayer;
  numbers.bias = true;
  numbers.qk_norm = true;
  EXPECT_THAT(
      Names(Order(*ModelConfig::Create(numbers), {})),
      ElementsAre(
          "embedding.word_embeddings.weight",
          "decoder.layers.0.self_attention.linear_proj.weight",
          "decoder.layers.0.self_attention.linear_proj.bias",
          "decoder.layers.0.self_attention.linear_qkv.layer_norm_weight",
          "decoder.layers.0.self_attention.linear_qkv.layer_norm_bias",
          "decoder.layers.0.self_attention.linear_qkv.weight",
          "decoder.layers.0.self_attention.linear_qkv.bias",
          "decoder.layers.0.self_attention.q_layernorm.weight",
          "decoder.layers.0.self_attention.q_layernorm.bias",
          "decoder.layers.0.self_attention.k_layernorm.weight",
          "decoder.layers.0.self_attention.k_layernorm.bias",
          "decoder.layers.0.mlp.linear_fc1.layer_norm_weight",
          "decoder.layers.0.mlp.linear_fc1.layer_norm_bias",
          "decoder.layers.0.mlp.linear_fc1.weight",
          "decoder.layers.0.mlp.linear_fc1.bias",
          "decoder.layers.0.mlp.linear_fc2.weight",
          "decoder.layers.0.mlp.linear_fc2.bias",
          "decoder.final_layernorm.weight", "decoder.final_layernorm.bias",
          "output_layer.weight"));
}

ModelNumbers WithExperts() {
  ModelNumbers numbers = Small();
  numbers.experts = ExpertNumbers{.count = 4,
                                  .ffn = 8,
                                  .shared_ffn = 8,
                                  .shared_gate = true,
                                  .correction = true};
  return numbers;
}

TEST(ParamOrder, OfLocalExpertsIsOneAfterTheOther) {
  ParamOrder::Options options = kLocal;
  options.ep = 2;
  const ParamOrder order = Order(*ModelConfig::Create(WithExperts()), options);
  const std::string mlp = "decoder.layers.0.mlp.";
  std::vector<std::string> names = Names(order);
  names.erase(names.begin(), names.begin() + 5);
  EXPECT_THAT(
      names,
      ElementsAre(mlp + "router.weight", mlp + "router.expert_bias",
                  mlp + "experts.local_experts.0.linear_fc1.weight",
                  mlp + "experts.local_experts.0.linear_fc2.weight",
                  mlp + "experts.local_experts.1.linear_fc1.weight",
                  mlp + "experts.local_experts.1.linear_fc2.weight",
                  mlp + "shared_experts.gate_weight",
                  mlp + "shared_experts.linear_fc1.weight",
                  mlp + "shared_experts.linear_fc2.weight",
                  "decoder.final_layernorm.weight", "output_layer.weight"));
  const int tensor = order.Chunk(0, 0)[7].tensor;
  EXPECT_EQ(order.tensors()[tensor].name, mlp + "experts.0.linear_fc1.weight");
  EXPECT_EQ(order.tensors()[order.TensorOfExpertRank(tensor, 1)].name,
            mlp + "experts.2.linear_fc1.weight");
}

TEST(ParamOrder, OfGroupedExpertsIsAllFc1ThenAllFc2) {
  ModelNumbers numbers = WithExperts();
  numbers.experts->shared_ffn = 0;
  numbers.experts->shared_gate = false;
  numbers.bias = true;
  std::vector<std::string> names = Names(
      Order(*ModelConfig::Create(numbers), {.grouped_experts = true, .ep = 2}));
  names.erase(names.begin(), names.begin() + 6);
  const std::string mlp = "decoder.layers.0.mlp.";
  EXPECT_THAT(
      names,
      ElementsAre(
          "decoder.layers.0.pre_mlp_layernorm.weight", mlp + "router.weight",
          mlp + "router.bias", mlp + "router.expert_bias",
          mlp + "experts.linear_fc1.weight0", mlp + "experts.linear_fc1.bias0",
          mlp + "experts.linear_fc1.weight1", mlp + "experts.linear_fc1.bias1",
          mlp + "experts.linear_fc2.weight0", mlp + "experts.linear_fc2.bias0",
          mlp + "experts.linear_fc2.weight1", mlp + "experts.linear_fc2.bias1",
          "decoder.final_layernorm.weight", "output_layer.weight"));
}

TEST(ParamOrder, OfLatentAttentionFusesTheNormsOfCompressedValues) {
  ModelNumbers numbers = Small();
  numbers.qk_norm = true;
  numbers.latent = LatentNumbers{
      .q_rank = 4, .kv_rank = 4, .nope_dim = 2, .rope_dim = 2, .v_dim = 2};
  const ModelConfig model = *ModelConfig::Create(numbers);
  const std::string attention = "decoder.layers.0.self_attention.";
  EXPECT_THAT(
      Names(Order(model, {})),
      ElementsAre("embedding.word_embeddings.weight",
                  "decoder.layers.0.input_layernorm.weight",
                  attention + "linear_proj.weight",
                  attention + "linear_q_down_proj.weight",
                  attention + "linear_q_up_proj.layer_norm_weight",
                  attention + "linear_q_up_proj.weight",
                  attention + "linear_kv_down_proj.weight",
                  attention + "linear_kv_up_proj.layer_norm_weight",
                  attention + "linear_kv_up_proj.weight",
                  "decoder.layers.0.mlp.linear_fc1.layer_norm_weight",
                  "decoder.layers.0.mlp.linear_fc1.weight",
                  "decoder.layers.0.mlp.linear_fc2.weight",
                  "decoder.final_layernorm.weight", "output_layer.weight"));
  const std::vector<std::string> local = Names(Order(model, kLocal));
  EXPECT_EQ(local[7], attention + "q_layernorm.weight");
  EXPECT_EQ(local[8], attention + "kv_layernorm.weight");
}

TEST(ParamOrder, OfAMambaHybridFollowsItsPattern) {
  ModelNumbers numbers = FamilyFeatures(Family::kMambaHybrid);
  numbers.hidden = 8;
  numbers.layers = 3;
  numbers.heads = 4;
  numbers.ffn = 16;
  numbers.vocabulary = 32;
  numbers.experts.reset();
  numbers.mamba = MambaNumbers{
      .pattern = "M*-", .heads = 4, .head_dim = 4, .groups = 2, .state = 4};
  EXPECT_THAT(
      Names(Order(*ModelConfig::Create(numbers), {})),
      ElementsAre(
          "embedding.word_embeddings.weight", "decoder.layers.0.mixer.dt_bias",
          "decoder.layers.0.mixer.A_log", "decoder.layers.0.mixer.D",
          "decoder.layers.0.mixer.in_proj.layer_norm_weight",
          "decoder.layers.0.mixer.in_proj.weight",
          "decoder.layers.0.mixer.conv1d.weight",
          "decoder.layers.0.mixer.conv1d.bias",
          "decoder.layers.0.mixer.norm.weight",
          "decoder.layers.0.mixer.out_proj.weight",
          "decoder.layers.1.self_attention.linear_proj.weight",
          "decoder.layers.1.self_attention.linear_qkv.layer_norm_weight",
          "decoder.layers.1.self_attention.linear_qkv.weight",
          "decoder.layers.2.mlp.linear_fc1.layer_norm_weight",
          "decoder.layers.2.mlp.linear_fc1.weight",
          "decoder.layers.2.mlp.linear_fc2.weight", "decoder.final_norm.weight",
          "output_layer.weight"));
}

// Which chunk has what of embedding, final norm, MTP layer and output.
std::vector<std::string> Ends(const ParamOrder& order, int stage, int chunk) {
  std::vector<std::string> ends;
  for (const std::string& name : Names(order, stage, chunk)) {
    if (name.find(".layers.") == std::string::npos) ends.push_back(name);
  }
  return ends;
}

TEST(ParamOrder, TiedEmbeddingsAreSharedByFirstAndLastStage) {
  ModelNumbers numbers = Small();
  numbers.layers = 4;
  numbers.tied = true;
  const ModelConfig model = *ModelConfig::Create(numbers);
  EXPECT_THAT(Ends(Order(model, kLocal), 0, 0),
              ElementsAre("embedding.word_embeddings.weight",
                          "decoder.final_layernorm.weight"));
  const ParamOrder order = Order(model, kLocal, {.pp = 2, .vpp = 2});
  EXPECT_THAT(Ends(order, 0, 0),
              ElementsAre("embedding.word_embeddings.weight*"));
  EXPECT_THAT(Ends(order, 1, 0), IsEmpty());
  EXPECT_THAT(Ends(order, 0, 1), IsEmpty());
  EXPECT_THAT(Ends(order, 1, 1), ElementsAre("decoder.final_layernorm.weight",
                                             "output_layer.weight*"));
}

TEST(ParamOrder, MtpLayersBringAnEmbeddingOfTheirOwn) {
  ModelNumbers numbers = Small();
  numbers.layers = 2;
  numbers.mtp_layers = 1;
  const ModelConfig model = *ModelConfig::Create(numbers);
  const ParamOrder one = Order(model, kLocal);
  EXPECT_THAT(Ends(one, 0, 0), ElementsAre("embedding.word_embeddings.weight",
                                           "decoder.final_layernorm.weight",
                                           "output_layer.weight"));
  const ParamOrder apart =
      Order(model, kLocal, {.pp = 4, .layout = "Et|t|m|L"});
  EXPECT_THAT(Ends(apart, 0, 0),
              ElementsAre("embedding.word_embeddings.weight*"));
  EXPECT_THAT(Ends(apart, 1, 0), ElementsAre("decoder.final_layernorm.weight"));
  EXPECT_THAT(
      Names(apart, 2, 0),
      ElementsAre("embedding.word_embeddings.weight*",
                  "mtp.layers.0.enorm.weight", "mtp.layers.0.hnorm.weight",
                  "mtp.layers.0.eh_proj.weight",
                  "mtp.layers.0.transformer_layer.input_layernorm.weight",
                  "mtp.layers.0.transformer_layer.self_attention.linear_proj."
                  "weight",
                  "mtp.layers.0.transformer_layer.self_attention.linear_qkv."
                  "weight",
                  "mtp.layers.0.transformer_layer.pre_mlp_layernorm.weight",
                  "mtp.layers.0.transformer_layer.mlp.linear_fc1.weight",
                  "mtp.layers.0.transformer_layer.mlp.linear_fc2.weight",
                  "mtp.layers.0.final_layernorm.weight"));
  EXPECT_THAT(Ends(apart, 3, 0), ElementsAre("output_layer.weight"));
  ParamOrder::Options newer;
  newer.version = *FindMegatronVersion("0.20.0");
  EXPECT_EQ(
      Names(Order(model, newer, {.pp = 4, .layout = "Et|t|m|L"}), 2, 0)[5],
      "mtp.layers.0.mtp_model_layer.self_attention.linear_qkv.layer_norm_"
      "weight");
}

TEST(ParamOrder, ATiedModelWithMtpUsesTheEmbeddingOfTheMtpLayers) {
  ModelNumbers numbers = Small();
  numbers.layers = 2;
  numbers.mtp_layers = 1;
  numbers.tied = true;
  const ParamOrder order =
      Order(*ModelConfig::Create(numbers), kLocal, {.pp = 2});
  EXPECT_THAT(
      Ends(order, 1, 0),
      ElementsAre("embedding.word_embeddings.weight*",
                  "decoder.final_layernorm.weight", "output_layer.weight"));
}

struct OrderCase {
  ModelConfig model;
  ParamOrder::Options options;

  friend std::ostream& operator<<(std::ostream& out, const OrderCase& it) {
    return out << it.model.DebugString() << "; Transformer Engine "
               << (it.options.spec == LayerSpec::kTransformerEngine)
               << ", grouped " << it.options.grouped_experts << ", ep "
               << it.options.ep;
  }
};

OrderCase RandomOrder(std::mt19937_64& random) {
  OrderCase it = {RandomConfig(random), {}};
  it.options.spec =
      random() % 2 == 0 ? LayerSpec::kLocal : LayerSpec::kTransformerEngine;
  it.options.grouped_experts =
      it.options.spec != LayerSpec::kLocal && random() % 2 == 0;
  const auto& experts = it.model->experts;
  if (experts.has_value() && experts->count % 2 == 0 && random() % 2 == 0) {
    it.options.ep = 2;
  }
  return it;
}

// Of the same options, as far as their ep divides the experts.
std::vector<OrderCase> SmallerOrders(const OrderCase& it) {
  std::vector<OrderCase> smaller;
  for (const ModelConfig& model : SmallerConfigs(it.model)) {
    const int64_t experts =
        model->experts.has_value() ? model->experts->count : 1;
    if (experts % it.options.ep == 0) smaller.push_back({model, it.options});
  }
  return smaller;
}

void ExpectEachTensorOnce(const OrderCase& it) {
  const ModelConfig& model = it.model;
  const Pipeline::Options pipeline = {.layers = model->layers,
                                      .pp = model->layers % 2 == 0 ? 2 : 1,
                                      .mtp_layers = model->mtp_layers};
  const ParamOrder order(model, it.options, *Pipeline::Create(pipeline));
  std::map<int, int> times;
  for (int stage = 0; stage < order.pipeline().pp(); ++stage) {
    std::set<std::string> names;
    for (const LiveTensor& live : order.Chunk(stage, 0)) {
      EXPECT_TRUE(names.insert(live.name).second) << live.name;
      const ModelTensor& tensor = order.tensors()[live.tensor];
      const int ranks = tensor.expert.has_value() ? it.options.ep : 1;
      for (int rank = 0; rank < ranks; ++rank) {
        ++times[order.TensorOfExpertRank(live.tensor, rank)];
      }
    }
  }
  ASSERT_EQ(times.size(), order.tensors().size());
  for (const auto& [tensor, count] : times) {
    const Role role = order.tensors()[tensor].role;
    const bool may_have_copies =
        role == Role::kWordEmbedding || role == Role::kPositionEmbedding;
    EXPECT_TRUE(count == 1 || may_have_copies)
        << order.tensors()[tensor].name << " " << count;
  }
}

// Whatever the spec and the pipeline: each tensor on one chunk, the embedding
// perhaps on more, names unique, names with local layers.
TEST(ParamOrder, HasEachTensorOnce) {
  auto random = TestRandom();
  for (int i = 0; i < 500; ++i) {
    CheckShrunk(RandomOrder(random), SmallerOrders, ExpectEachTensorOnce);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps::megatron
