#include "api/layout_text/megatron_text.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/layout_file/layout_file.h"
#include "api/layout_file/megatron_section.h"
#include "api/layout_text/nearest_layouts.h"
#include "base/status_macros.h"
#include "vps/layout/megatron/megatron_config.h"
#include "vps/layout/megatron/tensor_parallel.h"
#include "vps/model/model_tensors.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using vps::megatron::MegatronConfig;

// What MakeMegatronLayout refuses of sizes, without making the layout.
class Feasibility {
 public:
  Feasibility(const vps::ModelConfig& model, int64_t max_ranks)
      : model_(model), tensors_(vps::TensorsOf(model)), max_ranks_(max_ranks) {}

  bool operator()(const LayoutText& text) const { return Check(text).ok(); }

 private:
  absl::Status Check(const LayoutText& text) const {
    if (text.world_size() > max_ranks_) {
      return absl::InvalidArgumentError("too many ranks");
    }
    const Json file = text.ToFile("", "");
    ASSIGN_OR_RETURN(const MegatronConfig config,
                     ReadMegatronSection(text.world_size(), /*version=*/"",
                                         {file["parallelism"], "parallelism"},
                                         {file["megatron"], "megatron"}));
    RETURN_IF_ERROR(config.PipelineOf(model_).status());
    return vps::megatron::CheckTensorParallel(
        model_, tensors_, config->spec,
        {config.ranks().tp(), config.ranks().etp(), config.ranks().ep()});
  }

  const vps::ModelConfig& model_;
  const std::vector<vps::ModelTensor> tensors_;
  const int64_t max_ranks_;
};

absl::Status WithNearest(const absl::Status& status, const LayoutText& text,
                         const MegatronText& job, ReadText read) {
  // A model that can't be read has no layout at all.
  const absl::StatusOr<vps::ModelConfig> model = ParseModel(job.model, read);
  if (!model.ok()) return status;
  const Feasibility feasible(*model, job.max_ranks);
  if (feasible(text)) return status;  // something else is wrong
  const std::vector<LayoutText> nearest =
      NearestLayouts(text, (*model)->layers, feasible);
  if (nearest.empty()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), "; possible: ",
                   absl::StrJoin(nearest, " or ", absl::StreamFormatter())));
}

}  // namespace

absl::StatusOr<LoadedLayout> LoadLayoutText(const LayoutText& text,
                                            const MegatronText& job,
                                            ReadText read) {
  if (text.world_size() > job.max_ranks) {
    return WithNearest(
        absl::InvalidArgumentError(absl::StrCat(
            text.world_size(), " ranks, and there are ", job.max_ranks)),
        text, job, read);
  }
  absl::StatusOr<LoadedLayout> loaded =
      LoadLayoutTree(text.ToFile(job.model, job.states), read);
  if (loaded.ok()) return loaded;
  return WithNearest(loaded.status(), text, job, read);
}

}  // namespace dynatrain::api
