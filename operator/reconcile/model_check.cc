#include "operator/reconcile/model_check.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/manifest/json_codec.h"
#include "operator/reconcile/condition.h"
#include "vps/layout/manifest.h"

namespace dynatrain::control {
namespace {

constexpr char kType[] = "ModelAsTold";

int64_t CountParameters(const vps::Manifest& manifest) {
  int64_t parameters = 0;
  for (const vps::ManifestTensor& tensor : manifest.tensors()) {
    if (tensor.spec.state() == "param")
      parameters += tensor.spec.whole().num_elements();
  }
  return parameters;
}

}  // namespace

void CheckModel(Round& round) {
  const int64_t told = round.spec.parallelism.model.parameters;
  if (told == 0) {  // or no longer
    std::erase_if(round.next.conditions,
                  [](const api::Condition& c) { return c.type == kType; });
    return;
  }
  if (round.seen.manifest.empty()) return;
  // The manifest is the same for all of the job's life.
  const api::Condition* known = FindCondition(round.next, kType);
  if (known != nullptr &&
      known->observed_generation == round.job().generation) {
    return;
  }
  const absl::StatusOr<vps::Manifest> manifest =
      api::DecodeManifest(round.seen.manifest);
  if (!manifest.ok()) return;  // an agent's word; its digest was checked
  const int64_t parameters = CountParameters(*manifest);
  if (parameters == told) {
    SetCondition(round, kType, true, "Equal",
                 absl::StrCat(told, " parameters, as spec.model says"));
  } else {
    SetCondition(
        round, kType, false, "Different",
        absl::StrCat("the program's model has ", parameters,
                     " parameters, spec.model.parameters says ", told));
  }
}

}  // namespace dynatrain::control
