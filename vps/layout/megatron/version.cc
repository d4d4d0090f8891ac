#include "vps/layout/megatron/version.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dynatrain::vps::megatron {
namespace {

std::vector<MegatronVersion> Versions() {
  return {MegatronVersion{},
          MegatronVersion{.name = "0.20.0",
                          .experts_apart_if_etp_differs = true,
                          .mtp_transformer_layer = "mtp_model_layer"}};
}

}  // namespace

absl::StatusOr<MegatronVersion> FindMegatronVersion(absl::string_view name) {
  for (MegatronVersion& version : Versions()) {
    if (version.name == name) return version;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("version \"", absl::CHexEscape(name.substr(0, 64)),
                   "\" of Megatron-Core is not known; these are: ",
                   absl::StrJoin(MegatronVersionNames(), ", ")));
}

std::vector<std::string> MegatronVersionNames() {
  std::vector<std::string> names;
  for (const MegatronVersion& version : Versions()) {
    names.push_back(version.name);
  }
  return names;
}

}  // namespace dynatrain::vps::megatron
