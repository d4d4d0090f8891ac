#include "vps/layout/megatron/random_job.h"

#include <optional>
#include <string>
#include <utility>

#include "vps/layout/layout_builder.h"
#include "vps/layout/megatron/job_meshes.h"
#include "vps/layout/megatron/tensor_parallel.h"
#include "vps/model/model_tensors.h"
#include "vps/model/random_config.h"

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

// nullopt unless the job is valid.
std::optional<RandomJob> JobOf(const ModelNumbers& numbers,
                               MegatronOptions options) {
  auto model = ModelConfig::Create(numbers);
  auto config = MegatronConfig::Create(std::move(options));
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

// Options that are one step smaller, most of them of no valid job.
class SmallerOptions {
 public:
  explicit SmallerOptions(const MegatronOptions& whole) : whole_(whole) {}

  std::vector<MegatronOptions> All() {
    TryFewerRanks();
    TryPlainer();
    return std::move(smaller_);
  }

 private:
  using Size = int64_t Ranks::Sizes::*;

  template <typename Change>
  void Try(const Change& change) {
    change(smaller_.emplace_back(whole_));
  }

  void TryFewerRanks() {
    Ranks::Sizes sizes = whole_.ranks;
    // 0 is tp; said, it can be made smaller by itself.
    if (sizes.etp == 0) sizes.etp = sizes.tp;
    for (const Size axis :
         {&Ranks::Sizes::tp, &Ranks::Sizes::cp, &Ranks::Sizes::pp}) {
      const int64_t size = sizes.*axis;
      for (int64_t less = 1; less < size; ++less) {
        Try([&](MegatronOptions& o) {
          o.ranks.*axis = less;
          o.ranks.world = sizes.world / size * less;
        });
      }
    }
    for (int64_t world = 1; world < sizes.world; ++world) {
      Try([&](MegatronOptions& o) { o.ranks.world = world; });
    }
    for (const Size size : {&Ranks::Sizes::ep, &Ranks::Sizes::etp,
                            &Ranks::Sizes::optimizer_instances}) {
      for (int64_t less = 1; less < sizes.*size; ++less) {
        Try([&](MegatronOptions& o) { o.ranks.*size = less; });
      }
    }
  }

  void TryPlainer() {
    const MegatronOptions plain;
    const auto try_plain = [&](auto field) {
      if (whole_.*field == plain.*field) return;
      Try([&](MegatronOptions& o) { o.*field = plain.*field; });
    };
    using Options = MegatronOptions;
    try_plain(&Options::vpp);
    try_plain(&Options::first_stage_layers);
    try_plain(&Options::last_stage_layers);
    try_plain(&Options::account_for_embedding);
    try_plain(&Options::account_for_loss);
    try_plain(&Options::grouped_experts);
    try_plain(&Options::bucket_size);
    try_plain(&Options::overlap_grad_reduce);
    try_plain(&Options::pad_for_high_bandwidth);
    if (whole_.spec != LayerSpec::kLocal) {
      Try([](MegatronOptions& o) { o.spec = LayerSpec::kLocal; });
    }
    if (whole_.distributed_optimizer) {
      Try([](MegatronOptions& o) { o.distributed_optimizer = false; });
    }
    if (whole_.vocab_divisor != 1) {
      Try([](MegatronOptions& o) { o.vocab_divisor = 1; });
    }
    if (whole_.ranks.order != plain.ranks.order) {
      Try([&](MegatronOptions& o) { o.ranks.order = plain.ranks.order; });
    }
  }

  const MegatronOptions& whole_;
  std::vector<MegatronOptions> smaller_;
};

}  // namespace

RandomJob MakeRandomJob(std::mt19937_64& random) {
  Generator generator(random);
  while (true) {
    // Most draws are refused; those that are left are valid.
    auto job = JobOf(generator.Model(), generator.Options());
    if (job.has_value()) return *std::move(job);
  }
}

std::vector<RandomJob> SmallerJobs(const RandomJob& job) {
  std::vector<RandomJob> jobs;
  const auto add = [&](const ModelNumbers& numbers,
                       const MegatronOptions& options) {
    auto smaller = JobOf(numbers, options);
    if (smaller.has_value()) jobs.push_back(*std::move(smaller));
  };
  for (const MegatronOptions& options :
       SmallerOptions(job.config.options()).All()) {
    add(job.model.numbers(), options);
  }
  for (const ModelConfig& model : SmallerConfigs(job.model)) {
    add(model.numbers(), job.config.options());
  }
  return jobs;
}

std::ostream& operator<<(std::ostream& out, const RandomJob& job) {
  const MegatronOptions& o = job.config.options();
  const Ranks& ranks = job.config.ranks();
  out << job.model.DebugString() << "\nworld " << ranks.world_size() << ", tp "
      << ranks.tp() << ", cp " << ranks.cp() << ", pp " << ranks.pp() << ", ep "
      << ranks.ep() << ", etp " << ranks.etp() << ", order " << o.ranks.order
      << ", optimizer_instances " << o.ranks.optimizer_instances << ", vpp "
      << o.vpp;
  if (o.first_stage_layers) out << ", first " << *o.first_stage_layers;
  if (o.last_stage_layers) out << ", last " << *o.last_stage_layers;
  out << ", account for loss " << o.account_for_loss << ", local spec "
      << (o.spec == LayerSpec::kLocal) << ", grouped " << o.grouped_experts
      << ", vocab_divisor " << o.vocab_divisor << ", distributed "
      << o.distributed_optimizer << ", overlap " << o.overlap_grad_reduce;
  if (o.bucket_size) out << ", bucket_size " << *o.bucket_size;
  return out << ", busbw " << o.pad_for_high_bandwidth << "\n";
}

}  // namespace dynatrain::vps::megatron
