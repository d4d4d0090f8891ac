#include "agent/rank_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "api/rank/frame.h"
#include "api/rank/transition_order.h"
#include "nlohmann/json.hpp"

namespace dynatrain::agent {
namespace {

using api::Frame;
using nlohmann::json;
using ::testing::HasSubstr;

json GoodHello() {
  return {{"kind", "hello"},       {"protocol", api::kRankProtocol},
          {"local_rank", 1},       {"pid", 7},
          {"process_id", ~0ull},   {"data_address", "10.0.0.1:9"},
          {"runtime_version", "1"}};
}

json GoodPrepared() {
  return {{"kind", "prepared"},   {"g", 4},
          {"manifest", "{}"},     {"manifest_digest", "m"},
          {"plan_digest", "d"},   {"sent_hash", "18446744073709551615"},
          {"received_hash", "0"}, {"mode", "warm"},
          {"new_bytes", 1},       {"staging_bytes", 2},
          {"kept_bytes", 3},      {"moved_bytes", 4},
          {"minimal_bytes", 5},   {"times_ms", {{"groups", 1.5}, {"warm", 2}}}};
}

TEST(RankFramesTest, ReadsHello) {
  auto hello = ReadHello(Frame::Of(GoodHello()), 2);
  ASSERT_TRUE(hello.ok()) << hello.status();
  EXPECT_EQ(hello->local_rank, 1);
  EXPECT_EQ(hello->process_id, ~0ull);
}

TEST(RankFramesTest, ABadHelloIsTold) {
  const std::vector<std::pair<json, std::string>> cases = {
      {{{"local_rank", 2}}, "local_rank 2, there are 2"},
      {{{"local_rank", -1}}, "local_rank"},
      {{{"protocol", 1}}, "protocol 1"},
      {{{"process_id", 0}}, "process_id is 0"},
      {{{"data_address", 5}}, "data_address"},
      {{{"kind", "step"}}, "the first one is 'hello'"}};
  for (const auto& [patch, message] : cases) {
    json fields = GoodHello();
    fields.update(patch);
    const absl::Status status = ReadHello(Frame::Of(fields), 2).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << patch;
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
}

TEST(RankFramesTest, ReadsPrepared) {
  RankTransition part;
  std::string manifest;
  ASSERT_TRUE(ReadPrepared(Frame::Of(GoodPrepared()), part, manifest).ok());
  EXPECT_TRUE(part.prepared);
  EXPECT_EQ(part.sent_hash, ~uint64_t{0});
  EXPECT_EQ(part.times_ms.at("groups"), 1.5);
  EXPECT_EQ(part.times_ms.at("warm"), 2);
}

TEST(RankFramesTest, ABadPreparedIsTold) {
  for (const json& patch :
       std::vector<json>{{{"sent_hash", "18446744073709551616"}},
                         {{"received_hash", "-1"}},
                         {{"received_hash", 3}},
                         {{"times_ms", {{"x", "y"}}}},
                         {{"times_ms", 4}},
                         {{"new_bytes", -1}},
                         {{"manifest", json::array()}}}) {
    json fields = GoodPrepared();
    fields.update(patch);
    RankTransition part;
    std::string manifest;
    EXPECT_TRUE(absl::IsInvalidArgument(
        ReadPrepared(Frame::Of(fields), part, manifest)))
        << patch;
    EXPECT_FALSE(part.prepared);
  }
}

TEST(RankFramesTest, AStepMayHaveNoLoss) {
  RankObservation rank;
  ASSERT_TRUE(ReadStep(Frame::Of({{"kind", "step"},
                                  {"g", 4},
                                  {"step", 9},
                                  {"loss", nullptr},
                                  {"samples", 72},
                                  {"step_ms", 1},
                                  {"text", "step 9"}}),
                       rank)
                  .ok());
  EXPECT_EQ(rank.step, 9);
  EXPECT_TRUE(rank.loss != rank.loss);
}

TEST(RankFramesTest, TextsMustBeUtf8) {
  EXPECT_TRUE(
      CheckTexts(Frame::Of({{"kind", "step"}, {"text", "\xC3\xA9"}})).ok());
  EXPECT_FALSE(
      CheckTexts(Frame::Of({{"kind", "step"}, {"text", "\xFF"}})).ok());
  EXPECT_FALSE(
      CheckTexts(Frame::Of({{"kind", "store"}, {"keys", {"a", "\x80"}}})).ok());
  EXPECT_TRUE(CheckTexts(Frame::Of({{"kind", "store"},
                                    {"value", api::BinaryField("\xFF")}}))
                  .ok());
}

TEST(RankFramesTest, ReadsStore) {
  auto call = ReadStore(Frame::Of({{"kind", "store"},
                                   {"id", 3},
                                   {"op", "compare_set"},
                                   {"g", 4},
                                   {"keys", {"k"}},
                                   {"value", api::BinaryField("v")},
                                   {"expected", api::BinaryField("e")},
                                   {"amount", -2},
                                   {"timeout_ms", 1000}}));
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->request.keys, std::vector<std::string>{"k"});
  EXPECT_EQ(call->request.expected, "e");
  EXPECT_EQ(call->request.amount, -2);
  EXPECT_EQ(call->request.timeout, std::chrono::milliseconds(1000));
  EXPECT_FALSE(ReadStore(Frame::Of({{"kind", "store"},
                                    {"id", 3},
                                    {"op", "get"},
                                    {"g", 4},
                                    {"keys", "k"}}))
                   .ok());
}

TEST(RankFramesTest, PrepareCarriesTheWholeTransition) {
  const World source{
      3, "dp1,tp1,pp1", {{1, "10.0.0.1:7070", {{11, "a:1"}}, /*node=*/2}}};
  World target = source;
  target.generation = 4;
  const Frame frame =
      PrepareFrame({.id = "t",
                    .generation = 4,
                    .source = source,
                    .target = target,
                    .manifest = "{}",
                    .seed = 9,
                    .transfer_deadline = std::chrono::milliseconds(3000)},
                   {.limit_bytes = 10, .used_bytes = 5});
  EXPECT_EQ(frame.fields()["transition"],
            json::parse(R"({"id":"t","generation":4,"manifest":"{}",
      "source":{"generation":3,"layout":"dp1,tp1,pp1","members":[{"serial":1,
        "agent_address":"10.0.0.1:7070","node":2,
        "ranks":[{"process_id":11,"data_address":"a:1"}]}]},
      "target":{"generation":4,"layout":"dp1,tp1,pp1","members":[{"serial":1,
        "agent_address":"10.0.0.1:7070","node":2,
        "ranks":[{"process_id":11,"data_address":"a:1"}]}]},
      "options":{"memory_limit_bytes":10,"memory_used_bytes":5,"seed":9,
        "transfer_deadline_ms":3000}})"));
}

// What the runtime reads is what the agent writes.
TEST(RankFramesTest, TheRankReadsPrepareBack) {
  const World target{4, "dp1,tp1,pp1", {{1, "10.0.0.1:7070", {{11, "a:1"}}}}};
  const Frame frame =
      PrepareFrame({.id = "t",
                    .generation = 4,
                    .target = target,
                    .seed = ~uint64_t{0},
                    .transfer_deadline = std::chrono::milliseconds(3000)},
                   {});
  auto order = api::ReadTransitionOrder(frame.fields()["transition"]);
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_EQ(order->generation, 4);
  EXPECT_EQ(order->target.members[0].ranks[0].process_id, 11);
  EXPECT_EQ(order->transfer_deadline, std::chrono::milliseconds(3000));
}

TEST(RankFramesTest, OrdersNameTheirGeneration) {
  EXPECT_EQ(OrderFrame({transition::RankOrder::Kind::kArm, 4, 12}).fields(),
            (json{{"kind", "arm"}, {"g", 4}, {"step", 12}}));
  EXPECT_EQ(OrderFrame({transition::RankOrder::Kind::kCommit, 4, 0}).fields(),
            (json{{"kind", "commit"}, {"g", 4}}));
}

}  // namespace
}  // namespace dynatrain::agent
