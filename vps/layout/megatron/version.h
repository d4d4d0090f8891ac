// MegatronVersion: what differs between versions of Megatron-Core, as data. All
// else in this folder is the same in the versions known here.
#ifndef VPS_LAYOUT_MEGATRON_VERSION_H_
#define VPS_LAYOUT_MEGATRON_VERSION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::vps::megatron {

struct MegatronVersion {
  std::string name = "0.16.1";

  // Parameters of experts have buffers and an optimizer of their own if ep is
  // above 1; with this also if etp differs from tp. Param attribute
  // `allreduce`: core/tensor_parallel/layers.py and
  // extensions/transformer_engine.py of 0.16.1,
  // distributed/param_and_grad_buffer.py group_params_for_buffers of d98e8a64.
  bool experts_apart_if_etp_differs = false;

  // What an MTP layer calls its transformer layer:
  // core/transformer/multi_token_prediction.py.
  std::string mtp_transformer_layer = "transformer_layer";

  friend bool operator==(const MegatronVersion&,
                         const MegatronVersion&) = default;
};

// "0.16.1", and "0.20.0" as of commit d98e8a64. Returns kInvalidArgument naming
// these if `name` is neither.
absl::StatusOr<MegatronVersion> FindMegatronVersion(absl::string_view name);

std::vector<std::string> MegatronVersionNames();

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_VERSION_H_
