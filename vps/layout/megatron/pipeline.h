// Pipeline: which layers each model chunk of a pipeline holds. A stage is a
// rank of the pipeline; with virtual pipelining it has several *model chunks*,
// and the model runs through all stages' chunk 0, then all stages' chunk 1, ...
//
//   ASSIGN_OR_RETURN(Pipeline pipeline,
//                    Pipeline::Create({.layers = 16, .pp = 4, .vpp = 2}));
//   pipeline.chunk(/*stage=*/1, /*chunk=*/1) holds layers [10, 12)
//
// Source (Megatron-Core 0.16.1): core/transformer/transformer_config.py
// __post_init__ (what is refused), transformer_block.py
// get_num_layers_to_build, transformer_layer.py get_transformer_layer_offset,
// pipeline_parallel_layer_layout.py, multi_token_prediction.py.
#ifndef VPS_LAYOUT_MEGATRON_PIPELINE_H_
#define VPS_LAYOUT_MEGATRON_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynatrain::vps::megatron {

// Far above any model; keeps the arithmetic and what Create allocates small.
inline constexpr int kMaxLayers = 1 << 16;
// Model chunks of all stages together.
inline constexpr int kMaxModelChunks = 1 << 16;

struct ModelChunk {
  int first_layer = 0;  // of the whole model, from 0
  int layers = 0;       // may be none
  int mtp_layers = 0;   // multi-token prediction: all of the model's or none
  friend bool operator==(const ModelChunk&, const ModelChunk&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const ModelChunk& chunk) {
  out << "(" << chunk.first_layer << "," << chunk.layers << ")";
  if (chunk.mtp_layers > 0) out << "+" << chunk.mtp_layers << "m";
  return out;
}

class Pipeline {
 public:
  struct Options {
    int64_t layers = 1;  // of the decoder
    int64_t pp = 1;
    // Model chunks per stage; above 1 it is virtual pipelining. Where `layout`
    // says it, it may be left at 1.
    int64_t vpp = 1;
    // num_layers_in_first/last_pipeline_stage, over all chunks of the stage.
    std::optional<int64_t> first_stage_layers;
    std::optional<int64_t> last_stage_layers;
    // Embedding and loss count as a layer each when layers are dealt out.
    bool account_for_embedding = false;
    bool account_for_loss = false;
    // pipeline_model_parallel_layout, e.g. "Et*3|(tt|)*29,m|L"; "" is none.
    std::string layout;
    int64_t mtp_layers = 0;
  };

  // Returns kInvalidArgument naming the field, its value and what would do for
  // all that Megatron refuses. Two things that it takes are refused as well:
  // uneven stages that do not add up to the model (it would build another
  // model), and sizes above kMaxLayers or kMaxModelChunks.
  static absl::StatusOr<Pipeline> Create(const Options& options);

  int layers() const { return layers_; }
  int pp() const { return pp_; }
  int vpp() const { return static_cast<int>(chunks_.size()) / pp_; }
  int mtp_layers() const { return mtp_layers_; }

  // REQUIRES: 0 <= stage < pp(), 0 <= chunk < vpp().
  const ModelChunk& chunk(int stage, int chunk) const {
    return chunks_[chunk * pp_ + stage];
  }
  // The chunk with the embedding runs first, that with the output layer last,
  // wherever a custom layout writes its E and L.
  bool IsFirst(int stage, int chunk) const { return stage == 0 && chunk == 0; }
  bool IsLast(int stage, int chunk) const {
    return stage == pp_ - 1 && chunk == vpp() - 1;
  }
  // The final norm ends the last chunk; with MTP it follows the last layer.
  bool HasFinalNorm(int stage, int chunk) const;

  friend bool operator==(const Pipeline&, const Pipeline&) = default;

 private:
  Pipeline() = default;

  int layers_ = 0;
  int mtp_layers_ = 0;
  int pp_ = 1;
  std::vector<ModelChunk> chunks_;  // chunk * pp + stage: as the model runs
};

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_PIPELINE_H_
