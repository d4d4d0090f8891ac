#include "operator/reconcile/loss.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/manifest/json_codec.h"
#include "base/status_macros.h"
#include "vps/layout/mesh.h"
#include "vps/layout/named_layout.h"
#include "vps/layout/state_loss.h"

namespace dynatrain::control {
namespace {

std::vector<int> RanksOf(const Round& round,
                         const std::vector<uint32_t>& serials) {
  const std::vector<uint32_t> members = round.members();
  std::vector<int> ranks;
  for (size_t i = 0; i < members.size(); ++i) {
    if (std::find(serials.begin(), serials.end(), members[i]) ==
        serials.end()) {
      continue;
    }
    for (int local = 0; local < round.spec.ranks_per_replica; ++local) {
      ranks.push_back(static_cast<int>(i) * round.spec.ranks_per_replica +
                      local);
    }
  }
  return ranks;
}

absl::StatusOr<std::string> Describe(const Round& round,
                                     const std::vector<uint32_t>& lost) {
  if (round.seen.manifest.empty() || !round.layout()) {
    return absl::NotFoundError("no agent could be asked for the manifest");
  }
  ASSIGN_OR_RETURN(const vps::Manifest manifest,
                   api::DecodeManifest(round.seen.manifest));
  const vps::Mesh mesh = vps::Mesh::Of(*round.layout());
  if (mesh.world_size() !=
      static_cast<int>(round.members().size()) * round.spec.ranks_per_replica) {
    return absl::InternalError("the layout doesn't fit the members");
  }
  ASSIGN_OR_RETURN(const vps::Layout layout, vps::MakeLayout(mesh, manifest));
  const vps::StateLoss loss =
      vps::ComputeStateLoss(layout, RanksOf(round, lost));
  if (!loss.empty()) return loss.DebugString(layout);
  return std::string(
      "every tensor has a copy left on the others, but this version can't "
      "rebuild a world from them");
}

}  // namespace

std::string DescribeLoss(const Round& round,
                         const std::vector<uint32_t>& lost) {
  const absl::StatusOr<std::string> text = Describe(round, lost);
  if (text.ok()) return *text;
  return absl::StrCat("what has no copy left can't be told: ",
                      std::string(text.status().message()));
}

}  // namespace dynatrain::control
