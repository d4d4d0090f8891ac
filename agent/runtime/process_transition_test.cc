// A plan that is damaged is refused before there are links, whoever made it.
#include "agent/runtime/process_transition.h"

#include <string>
#include <utility>

#include "agent/runtime/ordered_world.h"
#include "api/manifest/json_codec.h"
#include "api/rank/transition_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "vps/layout/manifest.h"

namespace dynatrain::runtime {
namespace {

using ::testing::HasSubstr;
using transition::PlanInput;
using transition::ProcessPlan;

// Process 10 has all of w; process 20 joins and is to get its second half.
constexpr char kManifest[] = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[8,4],
     "splits":[{"axis":"dp","dim":0}]}]})";
constexpr uint64_t kStays = 10;
constexpr uint64_t kJoins = 20;

api::TransitionOrder Order() {
  api::TransitionOrder order;
  order.id = "t2";
  order.generation = 2;
  order.source = {1, "dp1", {{0, {{kStays, "127.0.0.1:1"}}}}};
  order.target = {
      2,
      "dp2",
      {{0, {{kStays, "127.0.0.1:1"}}}, {1, {{kJoins, "127.0.0.1:2"}}}}};
  order.manifest = kManifest;
  return order;
}

PlanInput Input() {
  const vps::Manifest manifest = *api::DecodeManifest(kManifest);
  return *PlanInput::Create(*MakeWorld(Order().source, manifest),
                            *MakeWorld(Order().target, manifest));
}

absl::Status Try(ProcessPlan plan) {
  return ProcessTransition::CreateWithPlan(Order(), Fingerprint(), Input(),
                                           std::move(plan))
      .status();
}

TEST(ProcessTransitionTest, TakesThePlanAsItIsMade) {
  EXPECT_TRUE(ProcessTransition::Create(Order(), kManifest, kStays).ok());
  EXPECT_TRUE(ProcessTransition::Create(Order(), kManifest, kJoins).ok());
  EXPECT_TRUE(Try(*transition::PlanForProcess(Input(), kJoins)).ok());
}

TEST(ProcessTransitionTest, RefusesAPlanWithAHoleByTensorAndRegion) {
  ProcessPlan plan = *transition::PlanForProcess(Input(), kJoins);
  ASSERT_EQ(plan.peers.size(), 1);
  plan.peers[0].receive.clear();
  const absl::Status status = Try(std::move(plan));
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("w/param"), HasSubstr("[4:8, 0:4]")));
}

TEST(ProcessTransitionTest, RefusesAPlanThatGivesARegionTwice) {
  ProcessPlan plan = *transition::PlanForProcess(Input(), kJoins);
  plan.peers[0].receive.push_back(plan.peers[0].receive[0]);
  EXPECT_THAT(std::string(Try(std::move(plan)).message()),
              HasSubstr("overlap"));
}

TEST(ProcessTransitionTest, RefusesAPlanThatForgetsWhatStays) {
  ProcessPlan plan = *transition::PlanForProcess(Input(), kStays);
  ASSERT_FALSE(plan.local.empty());
  plan.local.clear();
  EXPECT_TRUE(absl::IsFailedPrecondition(Try(std::move(plan))));
}

}  // namespace
}  // namespace dynatrain::runtime
