#include "vps/layout/megatron/pipeline.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/megatron/pipeline_layout.h"

namespace dynatrain::vps::megatron {
namespace {

using Options = Pipeline::Options;

absl::Status CheckRange(absl::string_view field, int64_t value, int64_t least,
                        int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", value, "; it lies in ", least, "..", most));
}

// "`what` 30 is not divisible by pp 4; the nearest that are: 28 and 32".
absl::Status CheckDivides(absl::string_view what, int64_t value,
                          absl::string_view by, int64_t divisor) {
  if (value % divisor == 0) return absl::OkStatus();
  const int64_t below = value / divisor * divisor;
  return absl::InvalidArgumentError(absl::StrCat(
      what, " ", value, " is not divisible by ", by, " ", divisor,
      below == 0 ? "; the nearest that is: "
                 : absl::StrCat("; the nearest that are: ", below, " and "),
      below + divisor));
}

absl::Status CheckSizes(const Options& options) {
  RETURN_IF_ERROR(CheckRange("layers", options.layers, 1, kMaxLayers));
  RETURN_IF_ERROR(CheckRange("pp", options.pp, 1, kMaxModelChunks));
  RETURN_IF_ERROR(
      CheckRange("vpp", options.vpp, 1, kMaxModelChunks / options.pp));
  RETURN_IF_ERROR(CheckRange("mtp_layers", options.mtp_layers, 0, kMaxLayers));
  if (options.vpp > 1 && options.pp == 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "vpp is ", options.vpp, " at pp 1; the interleaved schedule needs pp ",
        "of 2 or more, and pp 1 has vpp 1"));
  }
  const bool uneven = options.first_stage_layers.has_value() ||
                      options.last_stage_layers.has_value();
  const bool account =
      options.account_for_embedding || options.account_for_loss;
  if (uneven && account) {
    return absl::InvalidArgumentError(
        "first_stage_layers and last_stage_layers can't be set at the same "
        "time as account_for_embedding and account_for_loss; leave out the "
        "one or the other");
  }
  if (!options.layout.empty() && (uneven || account)) {
    return absl::InvalidArgumentError(
        "pipeline_layout can't be set with first_stage_layers, "
        "last_stage_layers, account_for_embedding or account_for_loss; the "
        "layout says it all");
  }
  return absl::OkStatus();
}

// Layers of a chunk, in the order chunk * pp + stage.
using Counts = std::vector<int64_t>;

absl::StatusOr<Counts> EvenCounts(const Options& options) {
  const int64_t dealt = options.layers +
                        (options.account_for_embedding ? 1 : 0) +
                        (options.account_for_loss ? 1 : 0);
  const std::string what = absl::StrCat(
      "layers", options.account_for_embedding ? " + the embedding" : "",
      options.account_for_loss ? " + the loss" : "");
  RETURN_IF_ERROR(CheckDivides(what, dealt, "pp", options.pp));
  RETURN_IF_ERROR(CheckDivides(absl::StrCat(what, ", per stage,"),
                               dealt / options.pp, "vpp", options.vpp));
  // At least 1 each, so that none is below 0 in the end.
  Counts counts(options.pp * options.vpp, dealt / options.pp / options.vpp);
  if (options.account_for_embedding) --counts.front();
  if (options.account_for_loss) --counts.back();
  return counts;
}

// Returns the layers of one chunk of an outer stage.
absl::StatusOr<int64_t> OuterCount(absl::string_view field, int64_t layers,
                                   const Options& options) {
  RETURN_IF_ERROR(CheckRange(field, layers, 1, options.layers));
  RETURN_IF_ERROR(CheckDivides(field, layers, "vpp", options.vpp));
  return layers / options.vpp;
}

absl::StatusOr<Counts> UnevenCounts(const Options& options) {
  const bool has_first = options.first_stage_layers.has_value();
  const bool has_last = options.last_stage_layers.has_value();
  if (has_first && has_last && options.pp == 1) {
    return absl::InvalidArgumentError(
        "first_stage_layers and last_stage_layers are both set, but pp 1 has "
        "only one stage; leave both out");
  }
  // get_transformer_layer_offset divides by the number of middle stages.
  if (has_first && has_last && options.pp == 2 && options.vpp > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "first_stage_layers and last_stage_layers are both set at pp 2 with "
        "vpp ",
        options.vpp,
        ", where Megatron divides by the number of stages between them; leave "
        "out one of them"));
  }
  int64_t first = 0;
  int64_t last = 0;
  if (has_first) {
    ASSIGN_OR_RETURN(first, OuterCount("first_stage_layers",
                                       *options.first_stage_layers, options));
  }
  if (has_last) {
    ASSIGN_OR_RETURN(last, OuterCount("last_stage_layers",
                                      *options.last_stage_layers, options));
  }
  const int64_t left = options.layers - (first + last) * options.vpp;
  const int64_t stages = options.pp - has_first - has_last;
  if (left < 0 || (left > 0) != (stages > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "first_stage_layers ", first * options.vpp, " and last_stage_layers ",
        last * options.vpp, " leave ", left, " of ", options.layers,
        " layers for ", stages, " stages in the middle; they must leave at ",
        "least one per stage, and none if there is no such stage"));
  }
  if (stages > 0) {
    RETURN_IF_ERROR(CheckDivides("layers in the middle", left,
                                 "the stages in the middle,", stages));
    RETURN_IF_ERROR(CheckDivides("layers of a middle stage", left / stages,
                                 "vpp", options.vpp));
  }
  Counts counts(options.pp * options.vpp,
                stages > 0 ? left / stages / options.vpp : 0);
  for (int64_t chunk = 0; chunk < options.vpp; ++chunk) {
    if (has_first) counts[chunk * options.pp] = first;
    if (has_last) counts[(chunk + 1) * options.pp - 1] = last;
  }
  return counts;
}

struct Dealt {
  Counts layers;
  Counts mtp;
};

absl::StatusOr<Dealt> CustomCounts(const Options& options) {
  ASSIGN_OR_RETURN(const std::vector<std::string> stages,
                   ParsePipelineLayout(options.layout));
  RETURN_IF_ERROR(CheckPipelineLayout(stages, static_cast<int>(options.pp),
                                      static_cast<int>(options.layers),
                                      static_cast<int>(options.mtp_layers)));
  const int64_t vpp = static_cast<int64_t>(stages.size()) / options.pp;
  if (options.vpp != 1 && options.vpp != vpp) {
    return absl::InvalidArgumentError(absl::StrCat(
        "vpp is ", options.vpp, ", but pipeline_layout has ", stages.size(),
        " stages, which is vpp ", vpp, " at pp ", options.pp));
  }
  if (vpp > 1 && options.pp == 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "pipeline_layout has ", vpp, " stages at pp 1; the interleaved ",
        "schedule needs pp of 2 or more, and pp 1 has one stage"));
  }
  RETURN_IF_ERROR(CheckRange("the number of stages of pipeline_layout",
                             static_cast<int64_t>(stages.size()), 1,
                             kMaxModelChunks));
  Dealt dealt;
  for (const std::string& stage : stages) {
    dealt.layers.push_back(std::count(stage.begin(), stage.end(), 't'));
    dealt.mtp.push_back(std::count(stage.begin(), stage.end(), 'm'));
  }
  return dealt;
}

absl::StatusOr<Dealt> Deal(const Options& options) {
  if (!options.layout.empty()) return CustomCounts(options);
  Dealt dealt;
  if (options.first_stage_layers.has_value() ||
      options.last_stage_layers.has_value()) {
    ASSIGN_OR_RETURN(dealt.layers, UnevenCounts(options));
  } else {
    ASSIGN_OR_RETURN(dealt.layers, EvenCounts(options));
  }
  dealt.mtp.resize(dealt.layers.size());
  dealt.mtp.back() = options.mtp_layers;
  return dealt;
}

}  // namespace

absl::StatusOr<Pipeline> Pipeline::Create(const Options& options) {
  RETURN_IF_ERROR(CheckSizes(options));
  ASSIGN_OR_RETURN(const Dealt dealt, Deal(options));
  Pipeline pipeline;
  pipeline.layers_ = static_cast<int>(options.layers);
  pipeline.mtp_layers_ = static_cast<int>(options.mtp_layers);
  pipeline.pp_ = static_cast<int>(options.pp);
  int first = 0;
  for (size_t i = 0; i < dealt.layers.size(); ++i) {
    const int layers = static_cast<int>(dealt.layers[i]);
    pipeline.chunks_.push_back({.first_layer = first,
                                .layers = layers,
                                .mtp_layers = static_cast<int>(dealt.mtp[i])});
    first += layers;
  }
  return pipeline;
}

bool Pipeline::HasFinalNorm(int stage, int chunk) const {
  if (mtp_layers_ == 0) return IsLast(stage, chunk);
  const ModelChunk& here = this->chunk(stage, chunk);
  return here.layers > 0 && here.first_layer + here.layers == layers_;
}

}  // namespace dynatrain::vps::megatron
