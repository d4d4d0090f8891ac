#include "vps/layout/torch/pipeline_stages.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::vps {
namespace {

absl::Status CheckCount(int64_t num_stages) {
  if (num_stages >= 1 && num_stages <= kMaxPipelineStages) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(num_stages, " pipeline stages; from 1 to ",
                   kMaxPipelineStages, " are possible"));
}

}  // namespace

absl::StatusOr<PipelineStages> PipelineStages::Loop(int axis,
                                                    int64_t num_stages,
                                                    int ranks) {
  RETURN_IF_ERROR(CheckCount(num_stages));
  std::vector<int> rank_of_stage;
  for (int stage = 0; stage < num_stages; ++stage) {
    rank_of_stage.push_back(stage % ranks);
  }
  return PipelineStages(axis, std::move(rank_of_stage));
}

absl::StatusOr<PipelineStages> PipelineStages::V(int axis, int64_t num_stages,
                                                 int ranks) {
  RETURN_IF_ERROR(CheckCount(num_stages));
  if (num_stages % ranks != 0) {
    const int64_t below = num_stages / ranks * ranks;
    return absl::InvalidArgumentError(absl::StrCat(
        num_stages, " pipeline stages in a V over ", ranks,
        " ranks; a multiple is needed, such as ",
        below > 0 ? absl::StrCat(below, " or ") : "", below + ranks));
  }
  std::vector<int> rank_of_stage;
  for (int stage = 0; stage < num_stages; ++stage) {
    const int along = stage % ranks;
    rank_of_stage.push_back(stage / ranks % 2 == 0 ? along : ranks - 1 - along);
  }
  return PipelineStages(axis, std::move(rank_of_stage));
}

absl::StatusOr<PipelineStages> PipelineStages::Create(
    int axis, std::vector<int> rank_of_stage, int ranks) {
  RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(rank_of_stage.size())));
  for (size_t stage = 0; stage < rank_of_stage.size(); ++stage) {
    if (rank_of_stage[stage] < 0 || rank_of_stage[stage] >= ranks) {
      return absl::InvalidArgumentError(absl::StrCat(
          "pipeline stage ", stage, " is on rank ", rank_of_stage[stage],
          " of the axis, which has the ranks 0..", ranks - 1));
    }
  }
  return PipelineStages(axis, std::move(rank_of_stage));
}

}  // namespace dynatrain::vps
