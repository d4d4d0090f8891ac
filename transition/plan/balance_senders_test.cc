// The heaviest sender against the exact least, by maximum flow over demands
// taken one by one, on random worlds of every kind of layout and on shipped
// cases.
#include "transition/plan/balance_senders.h"

#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/byte_matrix.h"
#include "transition/plan/demand.h"
#include "transition/plan/min_max_oracle.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_pair.h"
#include "transition/plan/tensor_classes.h"
#include "transition/plan/world_for_test.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/layout.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/presets.h"

namespace dynatrain::transition {
namespace {

// Whether the rank has all of the region in the copy.
bool Holds(const vps::Layout& layout, int rank, int tensor, int copy,
           const vps::Box& region) {
  bool holds = false;
  layout.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& own) {
    holds |= own.copy == copy && own.global.Contains(region);
  });
  return holds;
}

// The ranks that may send a demand: those in the target's nearest group that
// has any.
std::vector<int> HoldersOf(const PlanInput& input, int tensor,
                           const Demand& demand) {
  const Process& target = input.target().process(demand.target_rank);
  for (const Tier tier : kTiers) {
    const auto group = GroupOf(target, tier);
    std::vector<int> holders;
    for (int rank = 0; rank < input.source().size(); ++rank) {
      if (group.has_value() &&
          GroupOf(input.source().process(rank), tier) == group &&
          Holds(input.source().layout(), rank, input.SourceTensor(tensor),
                demand.source_copy, demand.region)) {
        holders.push_back(rank);
      }
    }
    if (!holders.empty()) return holders;
  }
  return {};
}

int64_t LeastHeaviest(const PlanInput& input) {
  std::vector<OracleDemand> demands;
  for (int rank = 0; rank < input.target().size(); ++rank) {
    TensorClasses classes(input, /*source_rank=*/-1, rank);
    classes.ForEachTensor([&](int tensor) {
      for (const Demand& demand : classes.Of(tensor).incoming) {
        demands.push_back(
            {demand.region.num_elements() * input.tensor(tensor).item_bytes(),
             HoldersOf(input, tensor, demand)});
      }
    });
  }
  return BusiestHolder(demands, input.source().size());
}

// Makes dim 0 of each tensor so long that an index of it is next to nothing.
void Enlarge(vps::LayoutCase& layout) {
  constexpr int64_t kFactor = 4096;
  for (vps::LayoutCase::Tensor& tensor : layout.tensors) {
    if (tensor.shape.empty()) continue;
    tensor.shape[0] *= kFactor;
    for (vps::LayoutCase::Copy& copy : tensor.copies) {
      copy.in_run.position *= kFactor;
      copy.in_run.shard *= kFactor;
      for (auto& [position, shard] : copy.by_lane) {
        position *= kFactor;
        shard *= kFactor;
      }
      for (vps::LayoutCase::Cut& cut : copy.cuts) {
        if (cut.dim != 0) continue;
        for (int64_t& extent : cut.block_extents) extent *= kFactor;
      }
    }
  }
}

// A piece that was empty may not be any more, and then be more than its lane
// has room for: such a layout is drawn again.
vps::LayoutCase LargeRandomLayout(
    const std::vector<vps::LayoutCase::Tensor>& tensors,
    std::mt19937_64& random) {
  while (true) {
    vps::LayoutCase layout = vps::RandomLayout(tensors, 12, random);
    Enlarge(layout);
    if (vps::MakeLayout(layout).ok()) return layout;
  }
}

PlanInput LargeRandomInput(std::mt19937_64& random) {
  PairCase pair = RandomPair(random);
  std::vector<vps::LayoutCase::Tensor> tensors = vps::RandomTensors(random);
  for (vps::LayoutCase::Tensor& tensor : tensors) tensor.pad_from = -1;
  pair.source.layout = LargeRandomLayout(tensors, random);
  pair.target.layout = LargeRandomLayout(tensors, random);
  std::tie(pair.source.ids, pair.target.ids) = RandomProcesses(
      pair.source.layout.world_size(), pair.target.layout.world_size(), random);
  pair.min_sender_bytes = 1;
  pair.max_senders = 1024;
  pair.balanced = false;
  return *MakeInput(pair);
}

TEST(BalanceSenders, IsWithinFivePercentOfTheLeastOnRandomWorlds) {
  std::mt19937_64 random = TestRandom(70);
  int cases = 0, uneven = 0;
  for (int i = 0; cases < 300; ++i) {
    ASSERT_LT(i, 3000);
    const PlanInput input = LargeRandomInput(random);
    const int64_t least = LeastHeaviest(input);
    if (least < 1 << 16) continue;  // nothing moves, or scalars only
    ++cases;
    SenderBalance balance;
    const PlanInput balanced = BalanceSenders(input, {}, &balance);
    uneven += balanced.shares() != nullptr;
    EXPECT_EQ(balance.bound_bytes, least) << "case " << i;
    const int64_t heaviest = ComputeByteMatrix(balanced).max_sent_bytes;
    EXPECT_LE(heaviest, least * 1.05)
        << "case " << i << ": equal parts " << balance.even_bytes
        << ", expected " << balance.chosen_bytes;
  }
  std::cout << cases << " cases, equal parts did not do in " << uneven << "\n";
  EXPECT_GT(uneven, 20);
}

// Processes live eight to a member; those of the target that are below
// `stayers` are the source's.
World MegatronWorld(const std::string& model,
                    const vps::megatron::MegatronOptions& options) {
  const auto layout = *vps::megatron::MakeMegatronLayout(
      *vps::Preset(model), *vps::megatron::MegatronConfig::Create(options),
      *vps::StateList::Preset("bf16-mixed"));
  std::vector<Process> processes;
  for (int rank = 0; rank < options.ranks.world; ++rank) {
    processes.push_back(
        {static_cast<uint64_t>(rank) + 1, static_cast<uint32_t>(rank / 8)});
  }
  return *World::Create(layout.layout(), std::move(processes));
}

TEST(BalanceSenders, IsWithinFivePercentOfTheLeastOnLlama70b) {
  struct Change {
    vps::megatron::Ranks::Sizes from, to;
  };
  const Change changes[] = {
      {{.world = 128, .tp = 8, .pp = 4}, {.world = 128, .tp = 4, .pp = 8}},
      {{.world = 128, .tp = 4, .pp = 8}, {.world = 128, .tp = 8, .pp = 2}},
      {{.world = 64, .tp = 8, .pp = 2}, {.world = 96, .tp = 8, .pp = 2}},
      {{.world = 64, .tp = 8, .pp = 2}, {.world = 48, .tp = 4, .pp = 2}},
  };
  for (const auto& [from, to] : changes) {
    const PlanInput input =
        *PlanInput::Create(MegatronWorld("llama2-70b", {.ranks = from}),
                           MegatronWorld("llama2-70b", {.ranks = to}));
    SenderBalance balance;
    const PlanInput balanced = BalanceSenders(input, {}, &balance);
    const ByteMatrix matrix = ComputeByteMatrix(balanced);
    std::cout << from.world << " tp" << from.tp << " pp" << from.pp << " -> "
              << to.world << " tp" << to.tp << " pp" << to.pp
              << ": equal parts "
              << static_cast<double>(balance.even_bytes) / balance.bound_bytes
              << ", chosen "
              << static_cast<double>(matrix.max_sent_bytes) /
                     balance.bound_bytes
              << " of the least\n";
    EXPECT_LE(matrix.max_sent_bytes, balance.bound_bytes * 1.05);
    EXPECT_EQ(matrix.moved_bytes, matrix.minimal_bytes);
  }
}

// A demand in a member with a holder has no choice; who serves it is relieved.
TEST(BalanceSenders, RelievesWhoServesItsOwnMember) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {3 << 20, 4}, {})});
  const PlanInput input =
      *PlanInput::Create(WorldForTest("rep3", model, {10, 20, 30}),
                         WorldForTest("rep6", model, {10, 20, 30, 31, 41, 51}));
  SenderBalance balance;
  const PlanInput balanced = BalanceSenders(input, {}, &balance);
  ASSERT_NE(balanced.shares(), nullptr);
  EXPECT_NE(balanced.AgreementDigest(), input.AgreementDigest());
  const int64_t whole = input.tensor(0).num_bytes();
  EXPECT_EQ(balance.bound_bytes, whole);
  EXPECT_EQ(balance.chosen_bytes, whole);
  EXPECT_GT(balance.even_bytes, whole * 3 / 2);
  EXPECT_EQ(ComputeByteMatrix(balanced).max_sent_bytes, whole);
}

TEST(BalanceSenders, LeavesLargeWorldsAndEvenPlansAsTheyAre) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {1 << 20, 4}, {})});
  const World three = WorldForTest("rep3", model, {10, 20, 30});
  const PlanInput even = *PlanInput::Create(
      three, WorldForTest("rep6", model, {10, 20, 30, 41, 51, 61}));
  EXPECT_EQ(BalanceSenders(even).shares(), nullptr);
  EXPECT_EQ(BalanceSenders(even).AgreementDigest(), even.AgreementDigest());
  const PlanInput uneven = *PlanInput::Create(
      three, WorldForTest("rep5", model, {10, 20, 30, 31, 41}));
  EXPECT_NE(BalanceSenders(uneven).shares(), nullptr);
  EXPECT_EQ(BalanceSenders(uneven, {.max_ranks = 4}).shares(), nullptr);
  const PlanInput from_four =
      *PlanInput::Create(WorldForTest("rep4", model, {10, 20, 30, 40}),
                         WorldForTest("rep3", model, {41, 51, 61}));
  EXPECT_NE(BalanceSenders(from_four).shares(), nullptr);
  EXPECT_EQ(BalanceSenders(from_four, {.max_ranks = 3}).shares(), nullptr);
}

// Equal parts would have the rank that must serve its own member, the last,
// send half of what another target lacks. Seven others could each send 3/7, but
// then a target had three senders or four.
TEST(BalanceSenders, KeepsPiecesAsLargeAsTheOptionsAsk) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {1 << 20, 4}, {})});
  const PlanInput input = *PlanInput::Create(
      WorldForTest("rep8", model, {10, 20, 30, 40, 50, 60, 70, 80}),
      WorldForTest("rep4", model, {91, 101, 81, 111}), {.max_senders = 2});
  const PlanInput balanced = BalanceSenders(input);
  ASSERT_NE(balanced.shares(), nullptr);
  for (const Process& process : balanced.target().processes()) {
    const ProcessPlan plan = *PlanForProcess(balanced, process.id);
    int senders = 0;
    for (const PeerExchange& it : plan.peers) {
      senders += !it.receive.empty();
    }
    EXPECT_EQ(senders, process.id == 81 ? 1 : 2);
  }
}

// What isn't worth a second sender goes to the one that has least to send.
TEST(BalanceSenders, GivesASmallGroupToTheIdlest) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {64, 4}, {})});
  const PlanInput input = *PlanInput::Create(
      WorldForTest("rep2", model, {10, 20}),
      WorldForTest("rep3", model, {41, 11, 51}));  // 11 is served by 10
  SenderBalance balance;
  const PlanInput balanced = BalanceSenders(input, {}, &balance);
  const int64_t whole = input.tensor(0).num_bytes();
  EXPECT_EQ(balance.even_bytes, 3 * whole);
  EXPECT_EQ(balance.bound_bytes, 3 * whole / 2);
  EXPECT_EQ(balance.chosen_bytes, 2 * whole);
  EXPECT_EQ(ComputeByteMatrix(balanced).max_sent_bytes, 2 * whole);
}

// Weights that are made anew are sent by nobody.
TEST(BalanceSenders, CountsOnlyWhatIsSent) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("a", {3 << 20, 4}, {}),
                              TensorForTest("b", {3 << 20, 4}, {})});
  const PlanInput input =
      *PlanInput::Create(WorldForTest("rep3", model, {10, 20, 30}),
                         WorldForTest("rep6", model, {10, 20, 30, 31, 41, 51}))
           ->WithRegenerated({{{.weight = 0, .master = 1}}});
  SenderBalance balance;
  const PlanInput balanced = BalanceSenders(input, {}, &balance);
  EXPECT_EQ(balance.bound_bytes, input.tensor(1).num_bytes());
  EXPECT_EQ(ComputeByteMatrix(balanced).max_sent_bytes, balance.bound_bytes);
}

}  // namespace
}  // namespace dynatrain::transition
