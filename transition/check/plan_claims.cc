#include "transition/check/plan_claims.h"

#include <vector>

#include "vps/geometry/box.h"
#include "vps/geometry/region.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {

Claims ClaimsOf(const PlanInput& input) {
  Claims claims = {.plan_digest = input.AgreementDigest()};
  claims.ranks.resize(input.num_processes());
  std::vector<int> tensor_of_source(input.num_tensors());
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    claims.item_bytes.push_back(input.item_bytes(tensor));
    tensor_of_source[input.SourceTensor(tensor)] = tensor;
  }
  for (int rank = 0; rank < input.source().size(); ++rank) {
    input.source().layout().ForEachRegion(
        rank, [&](const vps::OwnedRegion& it) {
          claims.ranks[input.UnionIndexOfSource(rank)].source.push_back(
              {tensor_of_source[it.tensor], it.global, it.copy});
        });
  }
  for (int rank = 0; rank < input.target().size(); ++rank) {
    RankClaims& of_rank = claims.ranks[input.UnionIndexOfTarget(rank)];
    input.target().layout().ForEachRegion(
        rank, [&](const vps::OwnedRegion& it) {
          if (input.MasterOf(it.tensor) >= 0) return;
          of_rank.target.push_back({it.tensor, it.global, it.copy});
          if (!input.PaddingDiffers(it.tensor)) return;
          for (const vps::Box& box :
               vps::Subtract(it.global, input.CommonBox(it.tensor))) {
            of_rank.zeros.push_back({it.tensor, box, it.copy});
          }
        });
  }
  return claims;
}

}  // namespace dynatrain::transition
