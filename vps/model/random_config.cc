#include "vps/model/random_config.h"

#include <cstdint>
#include <string>

namespace dynatrain::vps {
namespace {

class Dice {
 public:
  explicit Dice(std::mt19937_64& random) : random_(random) {}

  int64_t In(int64_t min, int64_t max) {
    return std::uniform_int_distribution<int64_t>(min, max)(random_);
  }
  bool Flip() { return In(0, 1) == 1; }
  // One time in three.
  bool Seldom() { return In(0, 2) == 0; }

 private:
  std::mt19937_64& random_;
};

ExpertNumbers RandomExperts(Dice& dice, const ModelNumbers& n) {
  ExpertNumbers experts = {
      .count = dice.In(1, 6), .ffn = dice.In(1, 9), .correction = dice.Flip()};
  if (!n.bias && dice.Flip()) {
    experts.shared_ffn = dice.In(1, 9);
    experts.shared_gate = dice.Flip();
  }
  if (n.mamba.has_value()) return experts;
  experts.first_dense = dice.In(0, n.layers);
  experts.frequency = dice.In(1, n.layers);
  experts.phase = dice.In(0, experts.frequency - 1);
  return experts;
}

MambaNumbers RandomMamba(Dice& dice, int64_t layers) {
  MambaNumbers mamba = {.head_dim = dice.In(1, 4),
                        .groups = dice.In(1, 3),
                        .state = dice.In(1, 5),
                        .convolution = dice.In(1, 4),
                        .convolution_bias = dice.Flip()};
  mamba.heads = mamba.groups * dice.In(1, 3);
  for (int64_t i = 0; i < layers; ++i) mamba.pattern += "M*-E"[dice.In(0, 3)];
  return mamba;
}

void ChooseAttention(Dice& dice, ModelNumbers& n) {
  if (dice.Seldom()) {
    n.heads = dice.In(1, 5);
    n.latent = LatentNumbers{.q_rank = dice.In(0, 4),
                             .kv_rank = dice.In(1, 5),
                             .nope_dim = dice.In(1, 5),
                             .rope_dim = dice.In(1, 5),
                             .v_dim = dice.In(1, 5)};
    return;
  }
  n.query_groups = dice.In(1, 3);
  n.heads = n.query_groups * dice.In(1, 3);
  n.head_dim = dice.In(1, 5);
  n.qkv_bias = dice.Flip();
  n.output_gate = dice.Flip();
}

}  // namespace

ModelConfig RandomConfig(std::mt19937_64& random) {
  Dice dice(random);
  ModelNumbers n = {.hidden = dice.In(1, 12),
                    .layers = dice.In(1, 6),
                    .ffn = dice.In(1, 12),
                    .vocabulary = dice.In(1, 30),
                    .positions = dice.Flip() ? dice.In(1, 9) : 0,
                    .norm = dice.Flip() ? Norm::kLayer : Norm::kRms,
                    .tied = dice.Flip(),
                    .gated = dice.Flip(),
                    .bias = dice.Flip(),
                    .qk_norm = dice.Flip()};
  if (dice.Seldom()) n.mamba = RandomMamba(dice, n.layers);
  const bool hybrid = n.mamba.has_value();
  if (!hybrid || n.mamba->pattern.find('*') != std::string::npos) {
    ChooseAttention(dice, n);
  }
  if (hybrid ? n.mamba->pattern.find('E') != std::string::npos : dice.Flip()) {
    n.experts = RandomExperts(dice, n);
  }
  if (!hybrid) n.mtp_layers = dice.In(0, 2);
  return *ModelConfig::Create(n);
}

}  // namespace dynatrain::vps
