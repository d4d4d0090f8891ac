#include "vps/model/model_size.h"

namespace dynatrain::vps {
namespace {

// In the comments: h hidden, f inner width, everything per layer.

int64_t NormSize(const ModelNumbers& n, int64_t width) {
  return n.norm == Norm::kLayer ? 2 * width : width;
}

// fc1 [f or 2f, h] and fc2 [h, f], with their biases.
int64_t PairSize(const ModelNumbers& n, int64_t ffn, bool bias) {
  const int64_t rows = n.gated ? 2 * ffn : ffn;
  return (rows + ffn) * n.hidden + (bias ? rows + n.hidden : 0);
}

int64_t LatentSize(const ModelNumbers& n) {
  const LatentNumbers& l = *n.latent;
  const int64_t q_rows = n.heads * (l.nope_dim + l.rope_dim);
  const int64_t queries =
      l.q_rank == 0 ? q_rows * n.hidden : l.q_rank * (n.hidden + q_rows);
  const int64_t keys_values = (l.kv_rank + l.rope_dim) * n.hidden +
                              n.heads * (l.nope_dim + l.v_dim) * l.kv_rank;
  const int64_t norms = n.qk_norm ? NormSize(n, l.q_rank + l.kv_rank) : 0;
  return queries + keys_values + norms + n.heads * l.v_dim * n.hidden;
}

int64_t GroupedSize(const ModelConfig& config) {
  const ModelNumbers& n = config.numbers();
  const int64_t rows = config.qkv_rows();
  const int64_t norms = n.qk_norm ? 2 * NormSize(n, n.head_dim) : 0;
  return (rows + n.heads * n.head_dim) * n.hidden + norms +
         (n.bias || n.qkv_bias ? rows : 0);
}

// With the norm before it.
int64_t AttentionSize(const ModelConfig& config) {
  const ModelNumbers& n = config.numbers();
  return NormSize(n, n.hidden) + (n.bias ? n.hidden : 0) +
         (n.latent.has_value() ? LatentSize(n) : GroupedSize(config));
}

// dt_bias, A_log, D; in_proj; conv1d; two norms; out_proj.
int64_t MambaSize(const ModelNumbers& n) {
  const MambaNumbers& m = *n.mamba;
  const int64_t inner = m.inner();
  const int64_t channels = inner + 2 * m.groups * m.state;
  return 3 * m.heads + (inner + channels + m.heads) * n.hidden +
         channels * (m.convolution + (m.convolution_bias ? 1 : 0)) + inner +
         NormSize(n, n.hidden) + inner * n.hidden;
}

// With the norm before it.
int64_t DenseSize(const ModelNumbers& n) {
  return NormSize(n, n.hidden) + PairSize(n, n.ffn, n.bias);
}

int64_t RoutedSize(const ModelNumbers& n) {
  return n.experts->count * PairSize(n, n.experts->ffn, n.bias);
}

// With the norm before it; router, routed and shared experts.
int64_t ExpertsSize(const ModelNumbers& n) {
  const ExpertNumbers& e = *n.experts;
  const int64_t router = e.count * (n.hidden + (n.bias ? 1 : 0));
  const int64_t shared =
      PairSize(n, e.shared_ffn, false) + (e.shared_gate ? n.hidden : 0);
  return NormSize(n, n.hidden) + router + RoutedSize(n) + shared;
}

int64_t FeedForwardSize(const ModelNumbers& n, FeedForward feed_forward) {
  if (feed_forward == FeedForward::kNone) return 0;
  return feed_forward == FeedForward::kDense ? DenseSize(n) : ExpertsSize(n);
}

// Embeddings, final norm, output layer.
int64_t EndsSize(const ModelNumbers& n) {
  return (n.vocabulary * (n.tied ? 1 : 2) + n.positions) * n.hidden +
         NormSize(n, n.hidden);
}

// Three norms, the projection [h, 2h], and a layer like the last one.
int64_t MtpLayerSize(const ModelConfig& config) {
  const ModelNumbers& n = config.numbers();
  return 3 * NormSize(n, n.hidden) + 2 * n.hidden * n.hidden +
         AttentionSize(config) +
         FeedForwardSize(n, config.mtp_layer().feed_forward);
}

int64_t MainSize(const ModelConfig& config) {
  const ModelNumbers& n = config.numbers();
  int64_t size = EndsSize(n);
  size += config.CountLayers(Mixer::kAttention) * AttentionSize(config);
  size += config.CountLayers(FeedForward::kDense) * DenseSize(n);
  if (n.experts.has_value()) {
    size += config.CountLayers(FeedForward::kExperts) * ExpertsSize(n);
  }
  if (n.mamba.has_value()) {
    size += config.CountLayers(Mixer::kMamba) * MambaSize(n);
  }
  return size;
}

}  // namespace

ModelSize SizeOf(const ModelConfig& config) {
  const ModelNumbers& n = config.numbers();
  ModelSize size = {.main_parameters = MainSize(config)};
  if (n.mtp_layers > 0) {
    size.mtp_parameters = n.mtp_layers * MtpLayerSize(config);
  }
  if (!n.experts.has_value()) return size;
  const int64_t main = config.CountLayers(FeedForward::kExperts);
  const int64_t mtp = config.mtp_layer().feed_forward == FeedForward::kExperts
                          ? n.mtp_layers
                          : 0;
  size.expert_parameters = (main + mtp) * RoutedSize(n);
  if (n.experts->correction) {
    size.main_buffers = main * n.experts->count;
    size.mtp_buffers = mtp * n.experts->count;
  }
  return size;
}

}  // namespace dynatrain::vps
