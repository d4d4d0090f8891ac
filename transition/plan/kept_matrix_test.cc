#include "transition/plan/kept_matrix.h"

#include <algorithm>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

TEST(KeptMatrix, IsTheOverlapOfWhatTwoRanksHold) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("norm", {4}, {}),
                              TensorForTest("w", {12, 1}, {{"dp", 0}})});
  const PlanInput input =
      *PlanInput::Create(WorldForTest("dp2", model, {10, 20}),
                         WorldForTest("dp3", model, {10, 20, 30}));
  // norm is 16 bytes; of w a source rank has rows 0..5 or 6..11, a target rank
  // 0..3, 4..7 or 8..11.
  EXPECT_EQ(ComputeKeptMatrix(input).bytes,
            (std::vector<int64_t>{16 + 16, 16 + 8, 16,  //
                                  16, 16 + 8, 16 + 16}));
  // If norm is made anew, it is no reason to stay.
  EXPECT_EQ(
      ComputeKeptMatrix(*input.WithRegenerated({{{.weight = 0, .master = 1}}}))
          .bytes,
      (std::vector<int64_t>{16, 8, 0,  //
                            0, 8, 16}));
}

TEST(KeptMatrix, OfTheFirstStartIsEmpty) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("norm", {4}, {})});
  const KeptMatrix kept = ComputeKeptMatrix(
      *PlanInput::Create(World(), WorldForTest("dp2", model, {10, 20})));
  EXPECT_EQ(kept.source_size, 0);
  EXPECT_TRUE(kept.bytes.empty());
}

// The sums of the matrix, and none of its entries is above the bound's share.
void ExpectSumsOfMatrix(const PlanInput& input, const KeptMatrix& kept) {
  const GivenKept given = ComputeGivenKept(input);
  int64_t in_order = 0, best = 0;
  for (int t = 0; t < kept.target_size; ++t) {
    const int s = input.SourceRankOfTarget(t);
    in_order += s < 0 ? 0 : kept.at(s, t);
    int64_t most = 0;
    for (int other = 0; other < kept.source_size; ++other) {
      most = std::max(most, kept.at(other, t));
    }
    best += most;
  }
  EXPECT_EQ(given.kept_bytes, in_order);
  EXPECT_GE(given.reachable_bytes, best);
}

// Gives every source rank's process every target rank in turn.
void ExpectWhatPlansKeep(PairCase pair) {
  const KeptMatrix kept = ComputeKeptMatrix(*MakeInput(pair));
  ExpectSumsOfMatrix(*MakeInput(pair), kept);
  const int sources = static_cast<int>(pair.source.ids.size());
  const int targets = static_cast<int>(pair.target.ids.size());
  ASSERT_EQ(kept.bytes.size(), sources * targets);
  const int most = std::max(sources, targets);
  for (int shift = 0; shift < most; ++shift) {
    for (int t = 0; t < targets; ++t) {
      const int s = (t + shift) % most;
      pair.target.ids[t] = s < sources ? pair.source.ids[s] : 1000 + t;
    }
    const PlanInput input = *MakeInput(pair);
    for (int t = 0; t < targets; ++t) {
      const ProcessPlan plan = *PlanForProcess(input, pair.target.ids[t]);
      if (plan.source_rank < 0) continue;
      ASSERT_EQ(kept.at(plan.source_rank, t), plan.bytes.kept_bytes)
          << "source rank " << plan.source_rank << ", target rank " << t << "\n"
          << pair;
    }
  }
}

TEST(KeptMatrix, IsWhatProcessesKeepWhicheverRankTheyTake) {
  std::mt19937_64 random = TestRandom();
  for (int i = 0; i < 300; ++i) {
    ExpectWhatPlansKeep(RandomPair(random));
    ExpectWhatPlansKeep(PairOf(RandomCase(random)));
  }
}

}  // namespace
}  // namespace dynatrain::transition
