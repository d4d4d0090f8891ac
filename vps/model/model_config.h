// ModelConfig: the numbers of a language model that decide which tensors it
// has and how large they are, and nothing else (no dropout, no rope base). The
// features are independent of each other, so that a family (Llama, Mixtral,
// DeepSeek-V3, ...) is a choice of numbers and never a branch in the code.
//
//   ModelConfig llama2_70b = *ModelConfig::Create({.hidden = 8192,
//                                                  .layers = 80,
//                                                  .heads = 64,
//                                                  .query_groups = 8,
//                                                  .ffn = 28672,
//                                                  .vocabulary = 32000});
//
// `.heads = 64, .query_groups = 5` is refused: "query_groups: 5 does not divide
// heads 64; the nearest that do are 4 and 8".
#ifndef VPS_MODEL_MODEL_CONFIG_H_
#define VPS_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::vps {

enum class Norm : uint8_t {
  kRms,    // weight
  kLayer,  // weight and bias
};

// Mixture-of-experts feed-forward parts.
struct ExpertNumbers {
  int64_t count = 0;       // routed experts of a layer
  int64_t ffn = 0;         // inner width of one routed expert
  int64_t shared_ffn = 0;  // inner width of all shared experts; 0: none
  bool shared_gate = false;
  // A persistent float32 buffer [count] that corrects the load of the experts
  // (Megatron's expert_bias, DeepSeek's e_score_correction_bias).
  bool correction = false;
  // Layer i has experts if i >= first_dense and i % frequency == phase; the
  // others are dense. A hybrid's pattern says it instead.
  int64_t first_dense = 0;
  int64_t frequency = 1;
  int64_t phase = 0;

  friend bool operator==(const ExpertNumbers&, const ExpertNumbers&) = default;
};

// Multi-head latent attention (DeepSeek-V2, V3).
struct LatentNumbers {
  int64_t q_rank = 0;  // of the compressed query; 0: queries are not compressed
  int64_t kv_rank = 0;   // of the compressed keys and values
  int64_t nope_dim = 0;  // of a head's query and key, without position
  int64_t rope_dim = 0;  // of a head's query and key, with rotary position
  int64_t v_dim = 0;     // of a head's value

  friend bool operator==(const LatentNumbers&, const LatentNumbers&) = default;
};

// Mamba-2 blocks, and where they stand among the others.
struct MambaNumbers {
  // One character per layer, as Megatron and Nemotron-H write it: M a Mamba
  // block, * attention, - a dense feed-forward part, E one with experts.
  std::string pattern;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t groups = 0;       // of the state's input and output matrices B and C
  int64_t state = 0;        // size of the state per head dim
  int64_t convolution = 4;  // width of the causal convolution
  bool convolution_bias = true;

  // Channels inside the block.
  int64_t inner() const { return heads * head_dim; }

  friend bool operator==(const MambaNumbers&, const MambaNumbers&) = default;
};

// What ModelConfig::Create is given.
struct ModelNumbers {
  int64_t hidden = 0;
  int64_t layers = 0;  // without the multi-token prediction layers
  int64_t heads = 0;
  int64_t query_groups = 0;  // key-value heads; 0: as many as heads
  int64_t head_dim = 0;      // 0: hidden / heads
  int64_t ffn = 0;           // inner width of a dense feed-forward part
  int64_t vocabulary = 0;    // rows that tokens use, without any padding
  int64_t positions = 0;     // rows of the learned position embedding; 0: none
  int64_t mtp_layers = 0;    // multi-token prediction
  Norm norm = Norm::kRms;
  bool tied = false;      // the output layer uses the word embedding
  bool gated = true;      // fc1 is gate and up (SwiGLU)
  bool bias = false;      // linear layers have one (latent attention: proj)
  bool qkv_bias = false;  // the qkv projection has one even if others do not
  bool qk_norm = false;   // queries and keys (latent: compressed) have a norm
  bool output_gate = false;  // attention gates its output by head channels
  std::optional<ExpertNumbers> experts;
  std::optional<LatentNumbers> latent;
  std::optional<MambaNumbers> mamba;

  friend bool operator==(const ModelNumbers&, const ModelNumbers&) = default;
};

// What one layer consists of.
enum class Mixer : uint8_t { kNone, kAttention, kMamba };
enum class FeedForward : uint8_t { kNone, kDense, kExperts };
struct LayerParts {
  Mixer mixer = Mixer::kNone;
  FeedForward feed_forward = FeedForward::kNone;

  friend bool operator==(const LayerParts&, const LayerParts&) = default;
};

class ModelConfig {
 public:
  // Limits on what is asked for, so that no config makes a program hold more
  // than it can: DeepSeek-V3 has 61 layers and 31,600 tensors.
  static constexpr int64_t kMaxLayers = 1 << 14;
  static constexpr int64_t kMaxTensors = 1 << 20;
  static constexpr int64_t kMaxExtent = int64_t{1} << 27;
  // Number of tensors times the elements of the largest: the bytes of all
  // states of all parameters then fit 63 bits.
  static constexpr int64_t kMaxElements = int64_t{1} << 56;

  // Returns kInvalidArgument naming the field ("experts.first_dense"), its
  // value and the nearest valid ones if a number is out of range, two do not go
  // together, or the model is above the limits.
  static absl::StatusOr<ModelConfig> Create(ModelNumbers numbers);

  // As given, with query_groups and head_dim filled in. With latent attention,
  // or without attention, both are 0.
  const ModelNumbers& numbers() const { return numbers_; }
  const ModelNumbers* operator->() const { return &numbers_; }

  // REQUIRES: 0 <= layer < layers.
  LayerParts layer(int64_t layer) const;
  // Every multi-token prediction layer is like the last layer.
  LayerParts mtp_layer() const { return layer(numbers_.layers - 1); }
  // How many layers (without multi-token prediction) have the part. Closed
  // form but for a hybrid's pattern, which is counted.
  int64_t CountLayers(Mixer mixer) const;
  int64_t CountLayers(FeedForward feed_forward) const;

  // Rows of the qkv projection: per query group heads / query_groups queries
  // (twice that with an output gate), one key and one value.
  int64_t qkv_rows() const;

  // "hidden 8192, layers 80, heads 64, query_groups 8, ..."; what is off or 0
  // is left out.
  std::string DebugString() const;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;

 private:
  explicit ModelConfig(ModelNumbers numbers) : numbers_(std::move(numbers)) {}

  ModelNumbers numbers_;
};

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_MODEL_CONFIG_H_
