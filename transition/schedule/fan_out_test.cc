// What issue 5 asks of fan-out: k new replicas from R old ones within 1.05 of
// S/B, by the planner's own moves and read off the programs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/world_for_test.h"
#include "transition/schedule/plan_moves.h"
#include "transition/schedule/program_makespan.h"
#include "transition/schedule/programs.h"
#include "transition/schedule/transfer_plan.h"

namespace dynatrain::transition {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kReplicaBytes = int64_t{1} << 30;

// From `num_old` replicas to these and `num_new` more, each in a pod of its
// own.
PlanInput ScaleOut(int num_old, int num_new) {
  std::vector<vps::ManifestTensor> tensors;
  for (int i = 0; i < 16; ++i) {
    tensors.push_back(TensorForTest(absl::StrCat("t", i),
                                    {1024, kReplicaBytes / 16 / 4096}, {}));
  }
  const vps::Manifest manifest = *vps::Manifest::Create(std::move(tensors));
  const auto world = [&](int size) {
    std::vector<uint64_t> ids;
    for (int rank = 0; rank < size; ++rank) ids.push_back(10 * rank + 10);
    return WorldForTest(absl::StrCat("dp", size), manifest, ids);
  };
  return *PlanInput::Create(world(num_old), world(num_old + num_new));
}

// Bandwidth alone.
ClusterModel PortModel(int ranks) {
  return *ClusterModel::Create({.num_nodes = ranks,
                                .ranks_per_node = 1,
                                .nics_per_node = 1,
                                .inside_bytes_per_second = 25'000'000'000,
                                .nic_bytes_per_second = 25'000'000'000,
                                .inside_latency_ns = 0,
                                .nic_latency_ns = 0,
                                .message_ns = 0,
                                .group_ns = 0});
}

TransferOptions Slots(int64_t slot_bytes) {
  return {.schedule = {.execution = Execution::kGrouped},
          .collectives = {.min_bytes = 0,
                          .min_slot_bytes = slot_bytes,
                          .max_slot_bytes = slot_bytes,
                          .max_parcels = 1 << 24}};
}

double Ratio(int num_old, int num_new, int64_t slots) {
  const PlanInput input = ScaleOut(num_old, num_new);
  const Moves moves = *MovesOf(input);
  const TransferPlan plan = *PlanTransfer(moves, PortModel(num_old + num_new),
                                          Slots(kReplicaBytes / slots));
  const std::vector<Program> programs =
      MakePrograms(plan.moves, plan.Schedules(), input.AgreementDigest());
  if (num_new <= 8) {  // the proof takes long where parcels are many
    EXPECT_THAT(CheckPrograms(ClaimsOf(input), programs), IsEmpty());
  }
  return static_cast<double>(ProgramMakespan(programs)) / kReplicaBytes;
}

// Slots so small that filling the chains of k / R ranks takes 4 % of S/B.
TEST(FanOutTest, TakesAsLongAsOneCopy) {
  std::vector<int> news = {1, 2, 3, 5, 8, 9, 17, 33, 64};
  if (std::getenv("DYNATRAIN_LONG") != nullptr) {
    news.clear();
    for (int k = 1; k <= 64; ++k) news.push_back(k);
  }
  std::printf("makespan / (S/B) by old (down) and new (across)\n    ");
  for (const int k : news) std::printf("%6d", k);
  std::printf("\n");
  for (int old = 1; old <= 8; ++old) {
    std::printf("%4d", old);
    for (const int k : news) {
      const double ratio = Ratio(old, k, int64_t{24} * ((k + old - 1) / old));
      std::printf(" %.3f", ratio);
      EXPECT_LE(ratio, 1.05) << old << " -> " << k;
      EXPECT_GE(ratio, 1) << old << " -> " << k;
    }
    std::printf("\n");
  }
}

TEST(FanOutTest, LargerSlotsFillLonger) {
  std::printf("makespan / (S/B) by slots per replica\n");
  for (const auto& [old, k] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 8}, {2, 8}, {4, 8}, {1, 32}, {4, 32}, {8, 32}}) {
    std::printf("%4d -> %-4d", old, k);
    double last = 1e9;
    for (const int64_t slots : {16, 64, 256, 1024}) {
      const double ratio = Ratio(old, k, slots);
      std::printf(" %5d: %.3f", static_cast<int>(slots), ratio);
      EXPECT_LE(ratio, last + 0.01);
      last = ratio;
    }
    std::printf("\n");
  }
}

// With all that messages and groups cost, and the slot that the model chooses.
TEST(FanOutTest, IsNearOneCopyOnAClusterToo) {
  for (const int nodes : {2, 4, 16}) {
    const int ranks = nodes * 8;
    const ClusterModel cluster =
        *ClusterModel::Create({.num_nodes = nodes,
                               .ranks_per_node = 8,
                               .nics_per_node = 8,
                               .inside_bytes_per_second = 200'000'000'000,
                               .nic_bytes_per_second = 25'000'000'000});
    const Moves moves = *MovesOf(ScaleOut(8, ranks - 8));
    for (const Execution execution :
         {Execution::kOrdered, Execution::kGrouped}) {
      const TransferPlan plan =
          *PlanTransfer(moves, cluster, {.schedule = {.execution = execution}});
      const double copy_ns = kReplicaBytes / 25.0;
      std::printf("8 -> %3d, %-7s: %.3f of one copy, plain %.3f\n", ranks - 8,
                  execution == Execution::kOrdered ? "ordered" : "grouped",
                  static_cast<double>(plan.ns) / copy_ns,
                  static_cast<double>(plan.plain_ns) / copy_ns);
      EXPECT_LE(plan.ns, plan.plain_ns);
      EXPECT_LE(static_cast<double>(plan.ns), 1.5 * copy_ns);
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
