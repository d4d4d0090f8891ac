#include "transition/preview/planned_bytes.h"

#include <random>
#include <sstream>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/byte_matrix.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_pair.h"
#include "transition/schedule/plan_moves.h"

namespace dynatrain::transition {
namespace {

// The same sums, process by process from what each would do itself.
PlannedBytes SumOfProcessPlans(const PlanInput& input) {
  PlannedBytes sums;
  sums.processes.resize(input.num_processes());
  const auto add = [&](uint64_t id, int index) {
    const ByteTotals bytes = PlanForProcess(input, id)->bytes;
    ProcessBytes& process = sums.processes[index];
    process.sent_bytes = bytes.sent_bytes;
    process.sums.kept_bytes = bytes.kept_bytes;
    process.sums.adopted_bytes = bytes.adopted_bytes;
    process.sums.moved_bytes = bytes.received_bytes;
    process.sums.minimal_bytes = bytes.minimal_bytes;
    process.sums.zero_bytes = bytes.zero_bytes;
    process.sums.target_bytes =
        bytes.kept_bytes + bytes.received_bytes + bytes.zero_bytes;
  };
  for (int rank = 0; rank < input.source().size(); ++rank) {
    add(input.source().process(rank).id, rank);
  }
  for (int rank = 0; rank < input.target().size(); ++rank) {
    add(input.target().process(rank).id, input.UnionIndexOfTarget(rank));
  }
  return sums;
}

int64_t HeldBytes(const vps::Layout& layout, int rank) {
  int64_t bytes = 0;
  layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
    bytes += region.global.num_elements() *
             layout.tensor(region.tensor).item_bytes();
  });
  return bytes;
}

std::string Text(const PairCase& pair) {
  std::ostringstream text;
  text << pair;
  return text.str();
}

TEST(PlannedBytesTest, IsTheSumOfWhatEachProcessPlansForItself) {
  std::mt19937_64 random = TestRandom(71);
  int with_choice = 0;
  for (int i = 0; i < 300; ++i) {
    const PairCase pair = RandomPair(random);
    const PlanInput input = *MakeInput(pair);
    if (input.source().empty()) continue;
    const PlannedBytes bytes = ComputePlannedBytes(input);
    PlannedBytes expected = SumOfProcessPlans(input);
    ByteSums total;
    for (int rank = 0; rank < input.source().size(); ++rank) {
      expected.processes[rank].sums.source_bytes =
          HeldBytes(input.source().layout(), rank);
    }
    for (const ProcessBytes& process : expected.processes) {
      total += process.sums;
    }
    ASSERT_EQ(bytes.processes, expected.processes) << Text(pair);
    ASSERT_EQ(bytes.total, total) << Text(pair);
    with_choice += pair.max_senders > 1;
  }
  EXPECT_GT(with_choice, 20);
}

TEST(PlannedBytesTest, FlowsAreThoseOfAllRoutes) {
  std::mt19937_64 random = TestRandom(72);
  for (int i = 0; i < 200; ++i) {
    const PairCase pair = RandomPair(random);
    const PlanInput input = *MakeInput(pair);
    if (input.source().empty()) continue;
    const Traffic traffic = MovesOf(input)->ToTraffic();
    ASSERT_THAT(ComputePlannedBytes(input).flows,
                testing::ElementsAreArray(traffic.flows()))
        << Text(pair);
  }
}

TEST(PlannedBytesTest, StatesAddUpToTheirTensors) {
  std::mt19937_64 random = TestRandom(73);
  for (int i = 0; i < 100; ++i) {
    const PlanInput input = *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    int64_t whole = 0;
    for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
      whole += input.tensor(tensor).num_bytes();
    }
    ByteSums sums;
    for (const StateBytes& state : ComputePlannedBytes(input).states) {
      whole -= state.whole_bytes;
      sums += state.sums;
      EXPECT_EQ(state.sums.target_bytes,
                state.sums.kept_bytes + state.sums.moved_bytes +
                    state.sums.zero_bytes + state.sums.regenerated_bytes);
    }
    EXPECT_EQ(whole, 0);
    EXPECT_EQ(sums.kept_bytes, ComputeByteMatrix(input).kept_bytes);
  }
}

// Of any two tensors: which is whose master is not asked here.
TEST(PlannedBytesTest, AWeightThatIsMadeAnewIsNeitherKeptNorMoved) {
  std::mt19937_64 random = TestRandom(78);
  int made = 0;
  for (int i = 0; i < 200; ++i) {
    const PlanInput input = *MakeInput(RandomPair(random));
    if (input.source().empty() || input.num_tensors() < 2) continue;
    const std::vector<Regenerated> weights = {{.weight = 0, .master = 1}};
    const ByteSums anew =
        ComputePlannedBytes(*input.WithRegenerated(weights)).total;
    const vps::Layout& target = input.target().layout();
    int64_t held = 0;
    for (int rank = 0; rank < target.world_size(); ++rank) {
      target.ForEachRegionOf(rank, 0, [&](const vps::OwnedRegion& region) {
        held += region.global.num_elements() * target.tensor(0).item_bytes();
      });
    }
    EXPECT_EQ(anew.regenerated_bytes, held);
    EXPECT_EQ(anew.target_bytes,
              anew.kept_bytes + anew.moved_bytes + anew.zero_bytes + held);
    EXPECT_EQ(anew.target_bytes, ComputePlannedBytes(input).total.target_bytes);
    made += held > 0;
  }
  EXPECT_GT(made, 20);
}

}  // namespace
}  // namespace dynatrain::transition
