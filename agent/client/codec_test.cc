#include "agent/client/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

Transition Grow() {
  const Member first{1, "10.0.0.1:7070", {{11, "10.0.0.1:9"}}};
  const Member second{2, "10.0.0.2:7070", {{22, "10.0.0.2:9"}}, /*node=*/3};
  return {.id = "t-4",
          .generation = 4,
          .source = {3, "dp1,tp1,pp1", {first}},
          .target = {4, "dp2,tp1,pp1", {first, second}},
          .manifest = "{}",
          .seed = 9,
          .transfer_deadline = milliseconds(3000),
          .prepare_deadline = milliseconds(60000)};
}

TEST(CodecTest, ATransitionSurvivesTheWire) {
  auto back = FromProto(ToProto(Grow()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, Grow());
}

TEST(CodecTest, ABadTransitionIsRefusedByField) {
  const std::vector<std::pair<std::string, std::function<void(Transition&)>>>
      cases = {
          {"transition.id: is empty", [](Transition& t) { t.id.clear(); }},
          {"transition.generation: is 5, the target world's is 4",
           [](Transition& t) { t.generation = 5; }},
          {"transition.source.generation: is 4",
           [](Transition& t) { t.source.generation = 4; }},
          {"transition.target.members: is empty",
           [](Transition& t) {
             t.target.members.clear();
             t.target.layout.clear();
           }},
          {"transition.target.layout: is '' for 2 members",
           [](Transition& t) { t.target.layout.clear(); }},
          {"members[serial 1]: is there twice",
           [](Transition& t) { t.target.members[1].serial = 1; }},
          {"members[serial 2]: has no agent_address",
           [](Transition& t) { t.target.members[1].agent_address.clear(); }},
          {"members[serial 2]: has no ranks",
           [](Transition& t) { t.target.members[1].ranks.clear(); }},
          {"has a rank with process_id 0",
           [](Transition& t) { t.target.members[1].ranks[0].process_id = 0; }},
          {"process_id 11 is there twice",
           [](Transition& t) { t.target.members[1].ranks[0].process_id = 11; }},
          {"transition.transfer_deadline_ms: is 0",
           [](Transition& t) { t.transfer_deadline = milliseconds(0); }},
          {"transition.prepare_deadline_ms: is 0",
           [](Transition& t) { t.prepare_deadline = milliseconds(0); }},
      };
  for (const auto& [message, spoil] : cases) {
    Transition transition = Grow();
    spoil(transition);
    auto back = FromProto(ToProto(transition));
    EXPECT_EQ(back.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(back.status().message(), HasSubstr(message));
  }
}

TEST(CodecTest, AnObservationSurvivesTheWire) {
  Observation observation;
  observation.version = 3;
  observation.term = 4;
  observation.job_uid = "u";
  observation.leaving = true;
  observation.leave_deadline = milliseconds(117000);
  observation.ranks.push_back(
      {.local_rank = 1, .state = RankState::kTraining, .step = 12});
  observation.ranks.push_back({.step_age = milliseconds(5)});
  observation.transition.phase = transition::Phase::kVerified;
  observation.transition.ranks.push_back({.plan_digest = "d",
                                          .sent_hash = ~uint64_t{0},
                                          .times_ms = {{"x", 2}},
                                          .pause_parts_ms = {{"y", 3}}});
  const Observation back = FromProto(ToProto(observation));
  EXPECT_EQ(back.leave_deadline, milliseconds(117000));
  EXPECT_EQ(back.ranks[0].state, RankState::kTraining);
  EXPECT_EQ(back.ranks[0].step_age, std::nullopt);
  EXPECT_EQ(back.ranks[1].step_age, milliseconds(5));
  EXPECT_EQ(back.transition.phase, transition::Phase::kVerified);
  EXPECT_EQ(back.transition.ranks[0].sent_hash, ~uint64_t{0});
  EXPECT_EQ(back.transition.ranks[0].times_ms.at("x"), 2);
  EXPECT_EQ(back.transition.ranks[0].pause_parts_ms.at("y"), 3);
  EXPECT_EQ(FromProto(ToProto(Observation())).leave_deadline, std::nullopt);
}

}  // namespace
}  // namespace dynatrain::agent
