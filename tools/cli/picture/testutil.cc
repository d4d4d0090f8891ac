#include "tools/cli/picture/testutil.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::cli {

using transition::ClusterModel;
using transition::Execution;
using transition::PlanInput;
using transition::TensorForTest;
using transition::WorldForTest;

transition::Preview PreviewForTest(int ranks, int per_node, int nics,
                                   bool grouped) {
  const vps::Manifest model = *vps::Manifest::Create(
      {TensorForTest("w", {4 * ranks, 250'000}, {{"dp", 0}})});
  std::vector<uint64_t> before, after;
  for (int rank = 0; rank < ranks; ++rank) {
    after.push_back(10 * (rank + 1));
    if (rank < ranks / 2) before.push_back(after.back());
  }
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = ranks / per_node + 1,
                             .ranks_per_node = per_node,
                             .nics_per_node = nics,
                             .inside_bytes_per_second = 10'000'000'000,
                             .nic_bytes_per_second = 1'000'000'000});
  transition::PreviewOptions options;
  options.schedule.execution =
      grouped ? Execution::kGrouped : Execution::kOrdered;
  return *transition::MakePreview(
      *PlanInput::Create(
          WorldForTest(absl::StrCat("dp", ranks / 2), model, before),
          WorldForTest(absl::StrCat("dp", ranks), model, after)),
      cluster, options);
}

transition::Preview FanOutForTest(int ranks, int per_node) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {16'000'000}, {})});
  std::vector<uint64_t> after;
  for (int rank = 0; rank < ranks; ++rank) after.push_back(10 * (rank + 1));
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = ranks / per_node,
                             .ranks_per_node = per_node,
                             .nics_per_node = 1,
                             .inside_bytes_per_second = 10'000'000'000,
                             .nic_bytes_per_second = 1'000'000'000});
  return *transition::MakePreview(
      *PlanInput::Create(WorldForTest("dp1", model, {after.front()}),
                         WorldForTest(absl::StrCat("dp", ranks), model, after)),
      cluster, {.collectives = transition::CollectiveOptions()});
}

}  // namespace dynatrain::cli
