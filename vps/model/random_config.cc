#include "vps/model/random_config.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

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

// Gathers the changes of one config that leave it valid, and another one.
class Smallers {
 public:
  explicit Smallers(const ModelNumbers& whole) : whole_(whole) {}

  template <typename Change>
  void Try(const Change& change) {
    ModelNumbers smaller = whole_;
    change(smaller);
    auto config = ModelConfig::Create(smaller);
    if (!config.ok() || config->numbers() == whole_) return;
    // 0 stands for a number that may be larger.
    const bool is_larger =
        !whole_.latent.has_value() &&
        (config->numbers().query_groups > whole_.query_groups ||
         config->numbers().head_dim > whole_.head_dim);
    if (!is_larger) configs_.push_back(*std::move(config));
  }
  // `of(numbers)` is one of the numbers, none of which need be there.
  template <typename Of>
  void TryLess(const Of& of) {
    ModelNumbers copy = whole_;
    const int64_t* value = of(copy);
    if (value == nullptr) return;
    for (const int64_t less : {int64_t{1}, *value / 2, *value - 1}) {
      if (less < 0 || less >= *value) continue;
      Try([&](ModelNumbers& n) { *of(n) = less; });
    }
  }
  std::vector<ModelConfig> Take() { return std::move(configs_); }

 private:
  const ModelNumbers& whole_;
  std::vector<ModelConfig> configs_;
};

void TryWithoutParts(Smallers& smaller) {
  smaller.Try([](ModelNumbers& n) { n.experts.reset(); });
  smaller.Try([](ModelNumbers& n) { n.mamba.reset(); });
  smaller.Try([](ModelNumbers& n) {
    if (!n.latent.has_value()) return;
    n.latent.reset();
    n.query_groups = n.heads;
    n.head_dim = 1;
  });
  smaller.Try([](ModelNumbers& n) { n.norm = Norm::kRms; });
  for (bool ModelNumbers::*flag :
       {&ModelNumbers::tied, &ModelNumbers::gated, &ModelNumbers::bias,
        &ModelNumbers::qkv_bias, &ModelNumbers::qk_norm,
        &ModelNumbers::output_gate}) {
    smaller.Try([&](ModelNumbers& n) { n.*flag = false; });
  }
  for (bool ExpertNumbers::*flag :
       {&ExpertNumbers::shared_gate, &ExpertNumbers::correction}) {
    smaller.Try([&](ModelNumbers& n) {
      if (n.experts.has_value()) (*n.experts).*flag = false;
    });
  }
}

// A hybrid's layers are those of its pattern.
void TryFewerLayers(const ModelNumbers& whole, Smallers& smaller) {
  if (!whole.mamba.has_value()) {
    return smaller.TryLess([](ModelNumbers& n) { return &n.layers; });
  }
  for (size_t i = 0; i < whole.mamba->pattern.size(); ++i) {
    smaller.Try([&](ModelNumbers& n) {
      --n.layers;
      n.mamba->pattern.erase(i, 1);
    });
  }
}

// Numbers of which one divides the other.
void TryLessTogether(const ModelNumbers& whole, Smallers& smaller) {
  for (const int64_t heads : {int64_t{1}, whole.heads / 2}) {
    smaller.Try([&](ModelNumbers& n) {
      n.heads = heads;
      n.query_groups = std::min(n.query_groups, heads);
    });
  }
  if (!whole.mamba.has_value()) return;
  for (const int64_t heads : {int64_t{1}, whole.mamba->heads / 2}) {
    smaller.Try([&](ModelNumbers& n) {
      n.mamba->heads = heads;
      n.mamba->groups = std::min(n.mamba->groups, heads);
    });
  }
}

void TrySmallerNumbers(Smallers& smaller) {
  for (int64_t ModelNumbers::*field :
       {&ModelNumbers::hidden, &ModelNumbers::heads,
        &ModelNumbers::query_groups, &ModelNumbers::head_dim,
        &ModelNumbers::ffn, &ModelNumbers::vocabulary, &ModelNumbers::positions,
        &ModelNumbers::mtp_layers}) {
    smaller.TryLess([&](ModelNumbers& n) { return &(n.*field); });
  }
  const auto in = [&](auto part, auto field) {
    smaller.TryLess([&](ModelNumbers& n) -> int64_t* {
      return (n.*part).has_value() ? &(*(n.*part).*field) : nullptr;
    });
  };
  for (int64_t ExpertNumbers::*field :
       {&ExpertNumbers::count, &ExpertNumbers::ffn, &ExpertNumbers::shared_ffn,
        &ExpertNumbers::first_dense, &ExpertNumbers::frequency,
        &ExpertNumbers::phase}) {
    in(&ModelNumbers::experts, field);
  }
  for (int64_t LatentNumbers::*field :
       {&LatentNumbers::q_rank, &LatentNumbers::kv_rank,
        &LatentNumbers::nope_dim, &LatentNumbers::rope_dim,
        &LatentNumbers::v_dim}) {
    in(&ModelNumbers::latent, field);
  }
  for (int64_t MambaNumbers::*field :
       {&MambaNumbers::heads, &MambaNumbers::head_dim, &MambaNumbers::groups,
        &MambaNumbers::state, &MambaNumbers::convolution}) {
    in(&ModelNumbers::mamba, field);
  }
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

std::vector<ModelConfig> SmallerConfigs(const ModelConfig& config) {
  Smallers smaller(config.numbers());
  TryWithoutParts(smaller);
  TryFewerLayers(config.numbers(), smaller);
  TryLessTogether(config.numbers(), smaller);
  TrySmallerNumbers(smaller);
  return smaller.Take();
}

}  // namespace dynatrain::vps
