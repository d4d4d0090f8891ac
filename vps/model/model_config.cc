#include "vps/model/model_config.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/model/model_config_checks.h"

namespace dynatrain::vps {
namespace {

LayerParts PartsOf(char symbol) {
  switch (symbol) {
    case 'M':
      return {.mixer = Mixer::kMamba};
    case '*':
      return {.mixer = Mixer::kAttention};
    case '-':
      return {.feed_forward = FeedForward::kDense};
    default:  // 'E': the pattern is checked
      return {.feed_forward = FeedForward::kExperts};
  }
}

int64_t CountSymbol(const std::string& pattern, char symbol) {
  return std::count(pattern.begin(), pattern.end(), symbol);
}

// How many i in [0, end) have i % frequency == phase.
int64_t CountPhase(int64_t end, int64_t frequency, int64_t phase) {
  return end > phase ? (end - phase - 1) / frequency + 1 : 0;
}

// "name value, " of what is not 0.
class Listing {
 public:
  Listing& Add(absl::string_view name, int64_t value) {
    if (value != 0) absl::StrAppend(&text_, Separator(), name, " ", value);
    return *this;
  }
  Listing& Flag(absl::string_view name, bool on) {
    if (on) absl::StrAppend(&text_, Separator(), name);
    return *this;
  }
  std::string text() && { return std::move(text_); }

 private:
  absl::string_view Separator() const { return text_.empty() ? "" : ", "; }
  std::string text_;
};

void AddParts(const ModelNumbers& n, Listing& out) {
  if (n.experts.has_value()) {
    out.Add("experts", n.experts->count)
        .Add("experts.ffn", n.experts->ffn)
        .Add("experts.shared_ffn", n.experts->shared_ffn)
        .Flag("experts.shared_gate", n.experts->shared_gate)
        .Flag("experts.correction", n.experts->correction)
        .Add("experts.first_dense", n.experts->first_dense)
        .Add("experts.frequency",
             n.experts->frequency - 1 == 0 ? 0 : n.experts->frequency)
        .Add("experts.phase", n.experts->phase);
  }
  if (n.latent.has_value()) {
    out.Add("latent.q_rank", n.latent->q_rank)
        .Add("latent.kv_rank", n.latent->kv_rank)
        .Add("latent.nope_dim", n.latent->nope_dim)
        .Add("latent.rope_dim", n.latent->rope_dim)
        .Add("latent.v_dim", n.latent->v_dim);
  }
  if (n.mamba.has_value()) {
    out.Flag(absl::StrCat("mamba.pattern ", n.mamba->pattern), true)
        .Add("mamba.heads", n.mamba->heads)
        .Add("mamba.head_dim", n.mamba->head_dim)
        .Add("mamba.groups", n.mamba->groups)
        .Add("mamba.state", n.mamba->state)
        .Add("mamba.convolution", n.mamba->convolution)
        .Flag("mamba.convolution_bias", n.mamba->convolution_bias);
  }
}

}  // namespace

absl::StatusOr<ModelConfig> ModelConfig::Create(ModelNumbers numbers) {
  RETURN_IF_ERROR(CheckAndComplete(numbers));
  ModelConfig config(std::move(numbers));
  const int64_t dense = config.CountLayers(FeedForward::kDense);
  if (config->ffn == 0 && dense > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ffn: 0, but ", dense, " layers have a dense feed-forward part"));
  }
  return config;
}

LayerParts ModelConfig::layer(int64_t layer) const {
  if (numbers_.mamba.has_value()) {
    return PartsOf(numbers_.mamba->pattern[layer]);
  }
  LayerParts parts = {Mixer::kAttention, FeedForward::kDense};
  if (numbers_.experts.has_value() && layer >= numbers_.experts->first_dense &&
      layer % numbers_.experts->frequency == numbers_.experts->phase) {
    parts.feed_forward = FeedForward::kExperts;
  }
  return parts;
}

int64_t ModelConfig::CountLayers(Mixer mixer) const {
  if (!numbers_.mamba.has_value()) {
    return mixer == Mixer::kAttention ? numbers_.layers : 0;
  }
  const int64_t mamba = CountSymbol(numbers_.mamba->pattern, 'M');
  const int64_t attention = CountSymbol(numbers_.mamba->pattern, '*');
  if (mixer == Mixer::kMamba) return mamba;
  if (mixer == Mixer::kAttention) return attention;
  return numbers_.layers - mamba - attention;
}

int64_t ModelConfig::CountLayers(FeedForward feed_forward) const {
  int64_t dense = 0, experts = 0;
  if (numbers_.mamba.has_value()) {
    dense = CountSymbol(numbers_.mamba->pattern, '-');
    experts = CountSymbol(numbers_.mamba->pattern, 'E');
  } else {
    if (numbers_.experts.has_value()) {
      const ExpertNumbers& e = *numbers_.experts;
      experts = CountPhase(numbers_.layers, e.frequency, e.phase) -
                CountPhase(e.first_dense, e.frequency, e.phase);
    }
    dense = numbers_.layers - experts;
  }
  if (feed_forward == FeedForward::kDense) return dense;
  if (feed_forward == FeedForward::kExperts) return experts;
  return numbers_.layers - dense - experts;
}

int64_t ModelConfig::qkv_rows() const {
  const int64_t queries = numbers_.heads * (numbers_.output_gate ? 2 : 1);
  return (queries + 2 * numbers_.query_groups) * numbers_.head_dim;
}

std::string ModelConfig::DebugString() const {
  const ModelNumbers& n = numbers_;
  Listing out;
  out.Add("hidden", n.hidden)
      .Add("layers", n.layers)
      .Add("heads", n.heads)
      .Add("query_groups", n.query_groups)
      .Add("head_dim", n.head_dim)
      .Add("ffn", n.ffn)
      .Add("vocabulary", n.vocabulary)
      .Add("positions", n.positions)
      .Add("mtp_layers", n.mtp_layers)
      .Flag(n.norm == Norm::kLayer ? "layer norm" : "rms norm", true)
      .Flag("tied", n.tied)
      .Flag("gated", n.gated)
      .Flag("bias", n.bias)
      .Flag("qkv_bias", n.qkv_bias)
      .Flag("qk_norm", n.qk_norm)
      .Flag("output_gate", n.output_gate);
  AddParts(n, out);
  return std::move(out).text();
}

}  // namespace dynatrain::vps
