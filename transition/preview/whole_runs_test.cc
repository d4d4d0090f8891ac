#include "transition/preview/whole_runs.h"

#include <random>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_pair.h"
#include "transition/preview/planned_bytes.h"

namespace dynatrain::transition {
namespace {

// Counted at the receiving ends.
RunTable ReceivedBy(const PlanInput& input) {
  RunTable received;
  for (const Process& process : input.target().processes()) {
    const ProcessPlan plan = *PlanForProcess(input, process.id);
    received += RunsOf(input, plan).receive;
  }
  return received;
}

TEST(WholeRuns, PairsAreTheFlowsAndBothEndsCountAlike) {
  std::mt19937_64 random = TestRandom(71);
  int64_t moved = 0;
  for (int i = 0; i < 200; ++i) {
    const PlanInput input = *MakeInput(RandomPair(random));
    const WholeRuns runs = ComputeWholeRuns(input);
    const PlannedBytes bytes = ComputePlannedBytes(input);
    ASSERT_EQ(runs.pairs.size(), bytes.flows.size()) << "case " << i;
    RunTable sum;
    for (size_t f = 0; f < bytes.flows.size(); ++f) {
      const PairRuns& pair = runs.pairs[f];
      EXPECT_EQ(pair.sender, bytes.flows[f].sender);
      EXPECT_EQ(pair.receiver, bytes.flows[f].receiver);
      EXPECT_EQ(pair.runs.total().bytes, bytes.flows[f].bytes);
      EXPECT_LE(pair.runs.total().descriptors,
                runs.max_descriptors_of_a_pair());
      sum += pair.runs;
    }
    EXPECT_EQ(sum, runs.moved);
    EXPECT_EQ(ReceivedBy(input), runs.moved);
    EXPECT_EQ(runs.copied.total().bytes, bytes.total.copied_bytes());
    moved += runs.moved.total().bytes;
  }
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace dynatrain::transition
