// PipelineStages: which rank of the pipeline axis runs which stage, as
// torch.distributed.pipelining has it (_utils.py of torch 2.15,
// generate_stage_to_rank_mapping). A rank may run several.
//
//   PipelineStages::Loop(axis, 4, 2)  ranks 0 1 0 1   (interleaved 1F1B)
//   PipelineStages::V(axis, 4, 2)     ranks 0 1 1 0   (zero-bubble V,
//   DualPipeV)
#ifndef VPS_LAYOUT_TORCH_PIPELINE_STAGES_H_
#define VPS_LAYOUT_TORCH_PIPELINE_STAGES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace dynatrain::vps {

// Stages at most; far more than layers of any known model.
inline constexpr int64_t kMaxPipelineStages = 1 << 16;

class PipelineStages {
 public:
  // `ranks` is the size of the pipeline axis. Returns kInvalidArgument naming
  // the number if there is no stage, too many, or, as torch refuses a V,
  // num_stages is no multiple of ranks.
  static absl::StatusOr<PipelineStages> Loop(int axis, int64_t num_stages,
                                             int ranks);
  static absl::StatusOr<PipelineStages> V(int axis, int64_t num_stages,
                                          int ranks);
  // A map of one's own: the rank of each stage. Returns kInvalidArgument naming
  // the stage whose rank isn't in 0..ranks-1, or if there is none.
  static absl::StatusOr<PipelineStages> Create(int axis,
                                               std::vector<int> rank_of_stage,
                                               int ranks);

  // The index of the mesh axis.
  int axis() const { return axis_; }
  int num_stages() const { return static_cast<int>(rank_of_stage_.size()); }
  // The coordinate on the axis. REQUIRES: 0 <= stage < num_stages().
  int RankOf(int stage) const { return rank_of_stage_[stage]; }

 private:
  PipelineStages(int axis, std::vector<int> rank_of_stage)
      : axis_(axis), rank_of_stage_(std::move(rank_of_stage)) {}

  int axis_;
  std::vector<int> rank_of_stage_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_PIPELINE_STAGES_H_
