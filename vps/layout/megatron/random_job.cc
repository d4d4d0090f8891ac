#include "vps/layout/megatron/random_job.h"

#include <optional>
#include <string>
#include <utility>

#include "vps/layout/layout_builder.h"
#include "vps/layout/megatron/job_meshes.h"
#include "vps/layout/megatron/tensor_parallel.h"
#include "vps/model/model_tensors.h"

namespace dynatrain::vps::megatron {
namespace {

class Generator {
 public:
  explicit Generator(std::mt19937_64& random) : random_(random) {}

  ModelNumbers Model() {
    ModelNumbers n = {.hidden = 12,
                      .layers = Among({1, 2, 4, 6}),
                      .heads = 6,
                      .query_groups = Among({1, 2, 3, 6}),
                      .head_dim = Among({2, 4}),
                      .ffn = Among({12, 18}),
                      .vocabulary = Among({10, 13}),
                      .positions = Among({0, 0, 5}),
                      .mtp_layers = Among({0, 0, 1}),
                      .norm = Flip() ? Norm::kRms : Norm::kLayer,
                      .tied = Flip(),
                      .gated = Flip(),
                      .bias = Flip(),
                      .qk_norm = Flip()};
    if (Flip()) {
      n.experts = ExpertNumbers{.count = Among({2, 4, 6}),
                                .ffn = 6,
                                .shared_ffn = Among({0, 6}),
                                .correction = Flip(),
                                .first_dense = Among({0, 0, 1})};
      n.experts->shared_gate = n.experts->shared_ffn > 0 && Flip();
    }
    if (Among({0, 0, 1}) == 1) {
      n.query_groups = 0;
      n.head_dim = 0;
      n.latent = LatentNumbers{.q_rank = Among({0, 6}),
                               .kv_rank = 8,
                               .nope_dim = 2,
                               .rope_dim = 4,
                               .v_dim = 3};
    } else if (Among({0, 0, 1}) == 1) {
      n.mtp_layers = 0;
      n.layers = 4;
      n.mamba = MambaNumbers{.pattern = n.experts.has_value() ? "ME*-" : "M-*M",
                             .heads = 6,
                             .head_dim = 2,
                             .groups = 6,
                             .state = Among({1, 2})};
      if (n.experts.has_value()) n.experts->first_dense = 0;
    }
    return n;
  }

  MegatronOptions Options() {
    MegatronOptions o;
    o.ranks = {.tp = Among({1, 2, 3}),
               .cp = Among({1, 1, 2}),
               .pp = Among({1, 2, 3}),
               .ep = Among({1, 2}),
               .etp = Among({0, 1, 2, 3}),
               .optimizer_instances = Among({1, 1, 2})};
    o.ranks.world = o.ranks.tp * o.ranks.cp * o.ranks.pp * Among({1, 2, 3, 4});
    if (Flip()) {
      o.ranks.order = Flip() ? std::string(kTpPpDpOrder) : "ep-dp-tp-cp-pp";
    }
    o.vpp = o.ranks.pp == 1 ? 1 : Among({1, 1, 2});
    if (Among({0, 0, 1}) == 1) o.first_stage_layers = Among({1, 2});
    if (Among({0, 0, 1}) == 1) o.account_for_loss = true;
    o.spec = Flip() ? LayerSpec::kLocal : LayerSpec::kTransformerEngine;
    o.grouped_experts = o.spec != LayerSpec::kLocal && Flip();
    o.vocab_divisor = Among({1, 4});
    o.distributed_optimizer = Among({0, 1, 1}) == 1;
    o.overlap_grad_reduce = Flip();
    o.bucket_size = Among({1, 100, 500});
    o.pad_for_high_bandwidth = Among({0, 0, 0, 1}) == 1;
    if (Flip()) o.version = *FindMegatronVersion("0.20.0");
    return o;
  }

 private:
  int64_t Among(std::initializer_list<int64_t> values) {
    return values.begin()[random_() % values.size()];
  }
  bool Flip() { return random_() % 2 == 0; }

  std::mt19937_64& random_;
};

// Most draws are refused; those that are left are valid.
std::optional<RandomJob> Draw(Generator& generator) {
  auto model = ModelConfig::Create(generator.Model());
  auto config = MegatronConfig::Create(generator.Options());
  if (!model.ok() || !config.ok() || config->ranks().world_size() > 48 ||
      !config->PipelineOf(*model).ok()) {
    return std::nullopt;
  }
  const Ranks& ranks = config->ranks();
  if (!CheckTensorParallel(
           *model, TensorsOf(*model), (*config)->spec,
           {.tp = ranks.tp(), .etp = ranks.etp(), .ep = ranks.ep()})
           .ok()) {
    return std::nullopt;
  }
  LayoutBuilder scratch;
  if (!JobMeshes::Create(ranks, (*config)->version,
                         model->numbers().experts.has_value(), scratch)
           .ok()) {
    return std::nullopt;
  }
  return RandomJob{*std::move(model), *std::move(config)};
}

}  // namespace

RandomJob MakeRandomJob(std::mt19937_64& random) {
  Generator generator(random);
  while (true) {
    if (auto job = Draw(generator); job.has_value()) return *std::move(job);
  }
}

}  // namespace dynatrain::vps::megatron
