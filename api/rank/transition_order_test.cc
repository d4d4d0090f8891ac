#include "api/rank/transition_order.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json Valid() {
  return json::parse(R"({
    "id": "t-3", "generation": 3, "manifest": "{}",
    "source": {"generation": 2, "layout": "dp2,tp1,pp1", "members": [
      {"serial": 0, "agent_address": "10.0.0.1:7070", "ranks": [
        {"process_id": 18446744073709551615, "data_address": "10.0.0.1:4000"}]},
      {"serial": 1, "agent_address": "10.0.0.2:7070", "ranks": [
        {"process_id": 7, "data_address": "10.0.0.2:4000"}]}]},
    "target": {"generation": 3, "layout": "dp1,tp1,pp1", "members": [
      {"serial": 1, "agent_address": "10.0.0.2:7070", "node": 2, "ranks": [
        {"process_id": 7, "data_address": "10.0.0.2:4000"}]}]},
    "options": {"seed": 5, "transfer_deadline_ms": 1500,
                "memory_limit_bytes": 0}})");
}

TEST(TransitionOrderTest, ReadsAllFields) {
  const TransitionOrder order = ReadTransitionOrder(Valid()).value();
  EXPECT_EQ(order.id, "t-3");
  EXPECT_EQ(order.generation, 3);
  EXPECT_EQ(order.transfer_deadline, std::chrono::milliseconds(1500));
  EXPECT_EQ(order.source.layout, "dp2,tp1,pp1");
  EXPECT_EQ(order.source.num_ranks(), 2);
  EXPECT_EQ(order.source.members[0].ranks[0].process_id, UINT64_MAX);
  EXPECT_EQ(order.source.members[1].node, 0);
  EXPECT_EQ(order.target.members[0].serial, 1);
  EXPECT_EQ(order.target.members[0].node, 2);
  EXPECT_EQ(order.target.members[0].ranks[0].data_address, "10.0.0.2:4000");
}

TEST(TransitionOrderTest, TheFirstStartHasNoSource) {
  json first = Valid();
  first["source"] = {
      {"generation", 0}, {"layout", ""}, {"members", json::array()}};
  first["manifest"] = "";
  const TransitionOrder order = ReadTransitionOrder(first).value();
  EXPECT_EQ(order.source.num_ranks(), 0);
}

TEST(TransitionOrderTest, WhatIsWrongIsNamed) {
  const struct {
    const char* pointer;
    json value;
    const char* named;
  } kCases[] = {
      {"/generation", "three", "transition.generation"},
      {"/generation", -1, "transition.generation"},
      {"/generation", 4, "transition.target.generation"},
      {"/target/members", json::array(), "transition.target"},
      {"/target/members", 5, "members"},
      {"/target/members/0/serial", -1, "serial"},
      {"/target/members/0/serial", nullptr, "serial"},
      {"/target/members/0/node", -1, "node"},
      {"/target/members/0/ranks/0", 5, "ranks"},
      {"/target/members/0/ranks/0/process_id", 0, "process_id"},
      {"/target/members/0/ranks/0/process_id", 1.5, "process_id"},
      {"/target/layout", "", "transition.target.layout"},
      {"/target/layout", 7, "transition.target.layout"},
      {"/source/members", json::array(), "transition.source.layout"},
      {"/source/members/0/ranks/0/process_id", 7, "process 7"},
      {"/options/transfer_deadline_ms", 0, "transfer_deadline_ms"},
      {"/options", json::array(), "options"},
      {"/manifest", 1, "transition.manifest"},
  };
  for (const auto& c : kCases) {
    json broken = Valid();
    broken[json::json_pointer(c.pointer)] = c.value;
    const absl::Status status = ReadTransitionOrder(broken).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.pointer;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.named));
  }
  for (const json& broken : {json(), json(3), json::array(), json::object()}) {
    EXPECT_FALSE(ReadTransitionOrder(broken).ok());
  }
}

}  // namespace
}  // namespace dynatrain::api
