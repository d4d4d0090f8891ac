#include "transition/plan/plan_input.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

vps::Manifest Model() {
  return *vps::Manifest::Create(
      {TensorForTest("a", {8, 4}, {{"dp", 0}}), TensorForTest("b", {6}, {}),
       TensorForTest("c", {16}, {{"dp", 0}}), TensorForTest("d", {2}, {})});
}

TEST(PlanInput, ListsTheProcessesOfBothWorldsOnce) {
  const PlanInput input =
      *PlanInput::Create(WorldForTest("dp3", Model(), {10, 20, 30}),
                         WorldForTest("dp3", Model(), {40, 30, 50}));
  EXPECT_EQ(input.num_processes(), 5);
  EXPECT_EQ(input.UnionIndexOfTarget(0), 3);
  EXPECT_EQ(input.UnionIndexOfTarget(1), 2);
  EXPECT_EQ(input.UnionIndexOfTarget(2), 4);
  EXPECT_EQ(input.SourceRankOfTarget(1), 2);
  EXPECT_EQ(input.SourceRankOfTarget(0), -1);
  EXPECT_EQ(input.TargetRankOfSource(2), 1);
  EXPECT_EQ(input.TargetRankOfSource(0), -1);
}

TEST(PlanInput, LinesUpTensorsThatAreCutAlike) {
  const PlanInput input =
      *PlanInput::Create(WorldForTest("dp2", Model(), {10, 20}),
                         WorldForTest("dp4", Model(), {10, 20, 30, 40}));
  EXPECT_EQ(input.line_span(0).begin_bytes, 0);   // a
  EXPECT_EQ(input.line_span(2).begin_bytes, 32);  // c follows a: 2 x 4 float32
  EXPECT_EQ(input.line_span(2).end_bytes, 48);
  EXPECT_EQ(input.line_span(0).line_bytes, 48);
  EXPECT_EQ(input.line_span(1).begin_bytes, 0);   // b
  EXPECT_EQ(input.line_span(3).begin_bytes, 24);  // d follows b
  EXPECT_EQ(input.class_of(0), 0);
  EXPECT_EQ(input.num_classes(), 4);
}

TEST(PlanInput, RefusesWorldsOfDifferentTensors) {
  const vps::Manifest other =
      *vps::Manifest::Create({TensorForTest("a", {8, 5}, {{"dp", 0}})});
  const auto input = PlanInput::Create(WorldForTest("dp1", Model(), {10}),
                                       WorldForTest("dp1", other, {10}));
  EXPECT_EQ(input.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(input.status().message()),
              HasSubstr("a/param: shape [8, 4] in expected, [8, 5] in actual"));
}

TEST(PlanInput, RefusesAnEmptyTargetAndBadOptions) {
  const World world = WorldForTest("dp1", Model(), {10});
  EXPECT_THAT(std::string(PlanInput::Create(world, World()).status().message()),
              HasSubstr("target world is empty"));
  const auto message = [&](const PlanOptions& options) {
    return std::string(
        PlanInput::Create(world, world, options).status().message());
  };
  EXPECT_THAT(message({.min_sender_bytes = 0}),
              HasSubstr("min_sender_bytes is 0"));
  EXPECT_THAT(message({.max_senders = 0}), HasSubstr("max_senders is 0"));
  EXPECT_THAT(message({.max_senders = 1025}), HasSubstr("lies in 1..1024"));
}

TEST(PlanInput, DigestSeesDirectionLayoutAndMembers) {
  const World two = WorldForTest("dp2", Model(), {10, 11});
  const World tp = WorldForTest("tp2", Model(), {10, 11});
  const Fingerprint digest = PlanInput::Create(two, tp)->AgreementDigest();
  EXPECT_EQ(PlanInput::Create(two, tp)->AgreementDigest(), digest);
  EXPECT_NE(PlanInput::Create(tp, two)->AgreementDigest(), digest);
  EXPECT_NE(PlanInput::Create(World(), tp)->AgreementDigest(), digest);
  EXPECT_NE(PlanInput::Create(two, WorldForTest("rep2", Model(), {10, 11}))
                ->AgreementDigest(),
            digest);
  EXPECT_NE(PlanInput::Create(two, WorldForTest("tp2", Model(), {11, 10}))
                ->AgreementDigest(),
            digest);
}

}  // namespace
}  // namespace dynatrain::transition
