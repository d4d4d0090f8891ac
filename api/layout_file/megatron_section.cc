#include "api/layout_file/megatron_section.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::api {
namespace {

using vps::megatron::LayerSpec;
using vps::megatron::MegatronConfig;
using vps::megatron::MegatronOptions;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::optional<int64_t> Optional(ObjectReader& reader, absl::string_view key,
                                int64_t min) {
  if (!reader.Has(key)) return std::nullopt;
  return reader.Int(key, min, kMax, min);
}

void ReadParallelism(ObjectReader& reader, MegatronOptions& options) {
  reader.AllowOnly({"tp", "cp", "pp", "ep", "etp", "vpp"});
  const auto size = [&](absl::string_view axis) {
    return reader.Int(axis, 1, vps::kMaxWorldSize, 1);
  };
  options.ranks.tp = size("tp");
  options.ranks.cp = size("cp");
  options.ranks.pp = size("pp");
  options.ranks.ep = size("ep");
  options.ranks.etp = reader.Has("etp") ? size("etp") : 0;
  options.vpp = size("vpp");
}

void ReadPipeline(ObjectReader& reader, MegatronOptions& options) {
  options.first_stage_layers = Optional(reader, "first_stage_layers", 0);
  options.last_stage_layers = Optional(reader, "last_stage_layers", 0);
  options.account_for_embedding = reader.Bool("account_for_embedding");
  options.account_for_loss = reader.Bool("account_for_loss");
  options.pipeline_layout = reader.Text("pipeline_layout");
}

void ReadOptimizer(ObjectReader& reader, MegatronOptions& options) {
  options.distributed_optimizer = reader.Bool("distributed_optimizer", true);
  options.ranks.optimizer_instances =
      reader.Int("optimizer_instances", 1, vps::kMaxWorldSize, 1);
  options.overlap_grad_reduce = reader.Bool("overlap_grad_reduce");
  options.bucket_size = Optional(reader, "bucket_size", 1);
  options.pad_for_high_bandwidth =
      reader.Bool("pad_buckets_for_high_nccl_busbw");
  options.overlap_param_gather_with_optimizer_step =
      reader.Bool("overlap_param_gather_with_optimizer_step");
  options.precision_aware_optimizer = reader.Bool("precision_aware_optimizer");
}

void ReadMegatron(ObjectReader& reader, MegatronOptions& options) {
  reader.AllowOnly({"order", "first_stage_layers", "last_stage_layers",
                    "account_for_embedding", "account_for_loss",
                    "pipeline_layout", "spec", "moe_grouped_gemm",
                    "make_vocab_size_divisible_by", "distributed_optimizer",
                    "optimizer_instances", "overlap_grad_reduce", "bucket_size",
                    "pad_buckets_for_high_nccl_busbw",
                    "overlap_param_gather_with_optimizer_step",
                    "precision_aware_optimizer"});
  options.ranks.order = reader.Text("order", vps::megatron::kDefaultOrder);
  ReadPipeline(reader, options);
  options.spec = reader.Choice("spec", {"transformer_engine", "local"}) == 1
                     ? LayerSpec::kLocal
                     : LayerSpec::kTransformerEngine;
  options.grouped_experts = reader.Bool("moe_grouped_gemm");
  options.vocab_divisor = reader.Int("make_vocab_size_divisible_by", 1, kMax,
                                     vps::megatron::kDefaultVocabDivisor);
  ReadOptimizer(reader, options);
}

}  // namespace

absl::StatusOr<MegatronConfig> ReadMegatronSection(int64_t world,
                                                   const std::string& version,
                                                   ObjectReader parallelism,
                                                   ObjectReader megatron) {
  MegatronOptions options;
  options.ranks.world = world;
  if (!version.empty()) {
    ASSIGN_OR_RETURN(options.version,
                     vps::megatron::FindMegatronVersion(version));
  }
  ReadParallelism(parallelism, options);
  RETURN_IF_ERROR(parallelism.status());
  ReadMegatron(megatron, options);
  RETURN_IF_ERROR(megatron.status());
  return MegatronConfig::Create(std::move(options));
}

}  // namespace dynatrain::api
