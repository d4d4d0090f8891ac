// The pod that the operator makes of the user's template
// (docs/design/0001, "Pod, as the operator makes it").
#ifndef OPERATOR_RECONCILE_POD_H_
#define OPERATOR_RECONCILE_POD_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "api/job/job.h"

namespace dynatrain::control {

inline constexpr char kJobLabel[] = "dynatrain.io/job";
inline constexpr char kSerialLabel[] = "dynatrain.io/serial";

struct PodOptions {
  std::string agent_image;
  int agent_port = 7070;
};

// "gpt-3".
std::string PodName(const api::JobMetadata& job, uint32_t serial);

// Selects exactly the pods of the job: "dynatrain.io/job=gpt".
std::string PodSelector(const api::JobMetadata& job);

// JSON of the pod. The template stays as it is but for what the agent needs:
// it becomes the first process of the first container, brought by an init
// container; the grace period is at least 120 s, so that state can leave. The
// variable DYNATRAIN_KEY is left empty, see CreatePod.
// REQUIRES: `spec` has passed ParseJobSpec.
std::string MakePod(const api::JobMetadata& job, const api::JobSpec& spec,
                    uint32_t serial, const PodOptions& options);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_POD_H_
