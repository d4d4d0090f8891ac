#include "transition/plan/byte_matrix.h"

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_case.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

TEST(ByteMatrix, OfOneTensorThatIsHalved) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("a", {8}, {{"dp", 0}})});
  const ByteMatrix matrix = ComputeByteMatrix(*PlanInput::Create(
      WorldForTest("dp1", model, {10}), WorldForTest("dp2", model, {10, 20})));
  EXPECT_EQ(matrix.at(0, 0), 16);
  EXPECT_EQ(matrix.at(0, 1), 16);
  EXPECT_EQ(matrix.kept_bytes, 16);
  EXPECT_EQ(matrix.moved_bytes, 16);
  EXPECT_EQ(matrix.minimal_bytes, 16);
  EXPECT_EQ(matrix.max_sent_bytes, 16);
  EXPECT_EQ(matrix.max_received_bytes, 16);
}

TEST(ByteMatrix, OfTheFirstStartIsZero) {
  const ByteMatrix matrix = ComputeByteMatrix(*PlanInput::Create(
      World(), WorldForTest("dp2", vps::Manifest(), {10, 20})));
  EXPECT_EQ(matrix.moved_bytes, 0);
  EXPECT_TRUE(matrix.bytes.empty());
}

TEST(ByteMatrix, IsTheSumOfTheProcessesPlans) {
  std::mt19937_64 random = TestRandom(43);
  for (int i = 0; i < 300; ++i) {
    const PlanCase plan_case = RandomCase(random);
    const PlanInput input = *MakeInput(plan_case);
    const ByteMatrix matrix = ComputeByteMatrix(input);
    EXPECT_EQ(matrix.moved_bytes, matrix.minimal_bytes) << plan_case;
    ByteMatrix sum;
    for (const Process& process : input.target().processes()) {
      const ProcessPlan plan = *PlanForProcess(input, process.id);
      sum.kept_bytes += plan.bytes.kept_bytes;
      sum.moved_bytes += plan.bytes.received_bytes;
      sum.max_received_bytes =
          std::max(sum.max_received_bytes, plan.bytes.received_bytes);
      for (const PeerExchange& peer : plan.peers) {
        if (peer.peer_source_rank < 0) continue;
        EXPECT_EQ(matrix.at(peer.peer_source_rank, plan.target_rank),
                  peer.receive_bytes);
      }
    }
    for (const Process& process : input.source().processes()) {
      sum.max_sent_bytes =
          std::max(sum.max_sent_bytes,
                   PlanForProcess(input, process.id)->bytes.sent_bytes);
    }
    EXPECT_EQ(matrix.kept_bytes, sum.kept_bytes);
    EXPECT_EQ(matrix.moved_bytes, sum.moved_bytes);
    EXPECT_EQ(matrix.max_received_bytes, sum.max_received_bytes);
    EXPECT_EQ(matrix.max_sent_bytes, sum.max_sent_bytes);
  }
}

}  // namespace
}  // namespace dynatrain::transition
