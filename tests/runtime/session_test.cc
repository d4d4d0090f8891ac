// A session in this process, under an agent that the test plays.
#include "agent/runtime/session.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/fake_agent.h"

namespace dynatrain::runtime {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kManifest[] = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[8,4],
     "splits":[{"axis":"dp","dim":0}]}]})";

Deadline Soon() { return Deadline::After(milliseconds(20'000)); }

class SessionTest : public testing::Test {
 protected:
  SessionTest()
      : agent_(absl::StrCat("/tmp/dynatrain-session-", getpid(), ".sock")) {
    SessionConfig config;
    config.socket = agent_.socket_path();
    config.pod_ip = "127.0.0.1";
    config.key = "key";
    session_ = Session::Open(config).value();
  }

  // Of this process alone: dp1, then dp1 again.
  json Transition(uint64_t generation, bool first_start) const {
    const json members =
        json::array({{{"serial", 0},
                      {"agent_address", ""},
                      {"ranks",
                       {{{"process_id", session_->process_id()},
                         {"data_address", "127.0.0.1:1"}}}}}});
    const json target = {
        {"generation", generation}, {"layout", "dp1"}, {"members", members}};
    json source = {{"generation", generation - 1},
                   {"layout", "dp1"},
                   {"members", members}};
    if (first_start) source = {{"generation", 0}, {"layout", ""}};
    return {{"id", "t"},
            {"generation", generation},
            {"source", source},
            {"target", target},
            {"manifest", first_start ? "" : kManifest},
            {"options", {{"transfer_deadline_ms", 20'000}}}};
  }

  void Send(json frame) { ASSERT_TRUE(agent_.Send(0, std::move(frame)).ok()); }

  void Prepare(uint64_t generation, bool first_start) {
    Send({{"kind", "prepare"},
          {"transition", Transition(generation, first_start)}});
    EXPECT_EQ(session_->Next(Soon()).value().at("kind"), "prepare");
  }

  FakeAgent agent_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, SaysHelloAndKeepsTheWelcome) {
  const api::Frame hello = agent_.Hello(0, Soon()).value();
  EXPECT_EQ(hello.Uint("process_id").value(), session_->process_id());
  EXPECT_EQ(hello.Int("pid").value(), getpid());
  EXPECT_THAT(hello.Text("data_address").value(), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(session_->welcome().at("job"), "test");
}

TEST_F(SessionTest, NextTimesOutAndGivesInstructionsInOrder) {
  EXPECT_EQ(session_->Next(Deadline::After(milliseconds(0))).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  Send({{"kind", "abort"}, {"g", 7}});
  Send({{"kind", "commit"}, {"g", 8}});
  EXPECT_EQ(session_->Next(Soon()).value().at("g"), 7);
  EXPECT_EQ(session_->Next(Soon()).value().at("kind"), "commit");
}

TEST_F(SessionTest, ReportsOnlyWhatIsPythonsToSay) {
  EXPECT_TRUE(session_->Report({{"kind", "left"}, {"g", 3}}).ok());
  EXPECT_TRUE(agent_.Expect(0, "left", 3, Soon()).ok());
  for (const json& frame :
       {json({{"kind", "verified"}, {"g", 3}}), json({{"kind", "hello"}}),
        json::object(), json(7)}) {
    EXPECT_EQ(session_->Report(frame).code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(SessionTest, ManyStoreRequestsAtATimeFindTheirReplies) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string key = absl::StrCat("key", t, "/", i);
        const std::string value(100 * i, static_cast<char>('a' + t));
        const json keys = json::array({key});
        wrong +=
            !session_->Store({{"op", "set"}, {"g", 1}, {"keys", keys}}, value)
                 .ok();
        const auto got =
            session_->Store({{"op", "get"}, {"g", 1}, {"keys", keys}}, "");
        wrong += !got.ok() || !got->ok || got->value != value;
      }
      const auto sum = session_->Store(
          {{"op", "add"}, {"keys", json::array({"sum"})}, {"amount", 1}}, "");
      wrong += !sum.ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(
      session_
          ->Store(
              {{"op", "add"}, {"keys", json::array({"sum"})}, {"amount", 0}},
              "")
          ->number,
      8);
}

TEST_F(SessionTest, StoreRequestsAreChecked) {
  for (const json& request : {json(), json::object(), json({{"op", ""}}),
                              json({{"op", "get"}, {"keys", "k"}}),
                              json({{"op", "get"}, {"keys", json::array({1})}}),
                              json({{"op", "get"}, {"timeout_ms", -1}}),
                              json({{"op", "set"}, {"expected_b64", "%%"}})}) {
    EXPECT_EQ(session_->Store(request, "").status().code(),
              absl::StatusCode::kInvalidArgument)
        << request;
  }
}

TEST_F(SessionTest, AFirstStartHasNothingToMoveAndWaitsForGoAndCommit) {
  Prepare(1, /*first_start=*/true);
  const json summary = session_->Plan(Transition(1, true), kManifest).value();
  EXPECT_EQ(summary.at("sources").size(), 0);
  EXPECT_EQ(summary.at("targets").at(0).at("local_shape"), json({8, 4}));
  EXPECT_EQ(summary.at("targets").at(0).at("dtype"), "float32");
  EXPECT_EQ(summary.at("target_rank"), 0);
  EXPECT_EQ(summary.at("moved_bytes"), 0);
  ASSERT_TRUE(session_->Report({{"kind", "prepared"}, {"g", 1}}).ok());
  const api::Frame prepared = agent_.Expect(0, "prepared", 1, Soon()).value();
  EXPECT_EQ(prepared.fields().at("plan_digest"), summary.at("plan_digest"));
  Send({{"kind", "go"}, {"g", 1}});
  std::thread agent([&] {
    EXPECT_TRUE(agent_.Expect(0, "verified", 1, Soon()).ok());
    Send({{"kind", "commit"}, {"g", 1}});
  });
  const TransferOutcome outcome = session_->Transfer(1).value();
  agent.join();
  EXPECT_TRUE(outcome.committed);
  EXPECT_EQ(session_->GetBlob(1, transition::BlobKind::kCommon).value(), "");
}

TEST_F(SessionTest, AWorldThatStaysInItsProcessIsCopiedWithItsBlobs) {
  Prepare(2, /*first_start=*/false);
  ASSERT_TRUE(session_->Plan(Transition(2, false), kManifest).ok());
  std::vector<float> source(32), target(32);
  for (int i = 0; i < 32; ++i) source[i] = static_cast<float>(i);
  using Side = transition::BindingSide;
  ASSERT_TRUE(
      session_->Bind(2, Side::kSource, 0, source.data(), {8, 4}, {16, 4}).ok());
  ASSERT_TRUE(
      session_->Bind(2, Side::kTarget, 0, target.data(), {8, 4}, {16, 4}).ok());
  ASSERT_TRUE(
      session_->PutBlob(2, transition::BlobKind::kCommon, "step 9").ok());
  Send({{"kind", "arm"}, {"g", 2}, {"step", 9}});
  EXPECT_TRUE(agent_.Expect(0, "armed", 2, Soon())->Bool("ok").value());
  EXPECT_EQ(session_->Boundary(1, 8).value(), BoundaryAction::kContinue);
  EXPECT_EQ(session_->Boundary(1, 9).value(), BoundaryAction::kStop);
  Send({{"kind", "go"}, {"g", 2}});
  std::thread agent([&] {
    EXPECT_EQ(agent_.Expect(0, "stopped", 2, Soon())->Uint("step").value(), 9);
    EXPECT_TRUE(agent_.Expect(0, "verified", 2, Soon()).ok());
    Send({{"kind", "commit"}, {"g", 2}});
  });
  EXPECT_TRUE(session_->Transfer(2)->committed);
  agent.join();
  EXPECT_EQ(target, source);
  EXPECT_EQ(session_->GetBlob(2, transition::BlobKind::kCommon).value(),
            "step 9");
}

TEST_F(SessionTest, AnotherModelThanTheJobsIsRefusedByTensorName) {
  Prepare(2, /*first_start=*/false);
  const std::string other = R"({"version":1,"tensors":[
    {"name":"bias","state":"param","dtype":"float32","shape":[8],
     "splits":[]}]})";
  const absl::Status status =
      session_->Plan(Transition(2, false), other).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bias/param"));
}

TEST_F(SessionTest, BindingsAreCheckedAndNamed) {
  Prepare(2, /*first_start=*/false);
  ASSERT_TRUE(session_->Plan(Transition(2, false), kManifest).ok());
  float memory[32];
  using Side = transition::BindingSide;
  const struct {
    int64_t tensor;
    void* data;
    std::vector<int64_t> shape, strides;
  } kWrong[] = {
      {1, memory, {8, 4}, {16, 4}}, {-1, memory, {8, 4}, {16, 4}},
      {0, memory, {4, 8}, {32, 4}}, {0, memory, {32}, {4}},
      {0, memory, {8, 4}, {16}},    {0, nullptr, {8, 4}, {16, 4}},
      {0, memory, {8, 4}, {0, 4}},  {0, memory, {8, 4}, {8, 4}},
  };
  for (const auto& wrong : kWrong) {
    EXPECT_EQ(session_
                  ->Bind(2, Side::kTarget, wrong.tensor, wrong.data,
                         wrong.shape, wrong.strides)
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
  // Transposed in memory is fine.
  EXPECT_TRUE(
      session_->Bind(2, Side::kTarget, 0, memory, {8, 4}, {4, 32}).ok());
}

TEST_F(SessionTest, AnUnboundTensorFailsTheTransferByName) {
  Prepare(2, /*first_start=*/false);
  ASSERT_TRUE(session_->Plan(Transition(2, false), kManifest).ok());
  Send({{"kind", "arm"}, {"g", 2}, {"step", 1}});
  ASSERT_TRUE(agent_.Expect(0, "armed", 2, Soon()).ok());
  ASSERT_EQ(session_->Boundary(1, 1).value(), BoundaryAction::kStop);
  Send({{"kind", "go"}, {"g", 2}});
  std::thread agent([&] {
    EXPECT_THAT(
        std::string(agent_.Expect(0, "verified", 2, Soon()).status().message()),
        HasSubstr("w/param is not bound"));
    Send({{"kind", "abort"}, {"g", 2}});
  });
  const TransferOutcome outcome = session_->Transfer(2).value();
  agent.join();
  EXPECT_FALSE(outcome.committed);
  EXPECT_EQ(outcome.report.at("kept_by"), "failure");
}

TEST_F(SessionTest, DropDuringATransferTakesEffectAtItsEnd) {
  Prepare(1, /*first_start=*/true);
  ASSERT_TRUE(session_->Plan(Transition(1, true), kManifest).ok());
  Send({{"kind", "go"}, {"g", 1}});
  std::thread agent([&] {
    EXPECT_TRUE(agent_.Expect(0, "verified", 1, Soon()).ok());
    session_->Drop(1);
    Send({{"kind", "abort"}, {"g", 1}});
  });
  EXPECT_FALSE(session_->Transfer(1)->committed);
  agent.join();
  EXPECT_EQ(session_->GetBlob(1, transition::BlobKind::kCommon).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionTest, WhatIsNotOrderedIsRefused) {
  EXPECT_EQ(session_->Plan(Transition(5, true), kManifest).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session_->Transfer(5).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session_->Plan(json(3), kManifest).status().code(),
            absl::StatusCode::kInvalidArgument);
  session_->Drop(5);
}

TEST_F(SessionTest, AnAbortEndsAPlanThatWaitsForItsPeers) {
  json order = Transition(2, false);
  // A joiner with a lower id, which is to dial and never comes.
  order["target"]["layout"] = "dp2";
  order["target"]["members"].push_back(
      {{"serial", 1},
       {"ranks", {{{"process_id", 1}, {"data_address", "127.0.0.1:1"}}}}});
  Send({{"kind", "prepare"}, {"transition", order}});
  ASSERT_TRUE(session_->Next(Soon()).ok());
  std::thread agent([&] { Send({{"kind", "abort"}, {"g", 2}}); });
  const absl::Status status = session_->Plan(order, kManifest).status();
  agent.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("aborted"));
}

TEST_F(SessionTest, DismissIsHeardByBoundaryAndNext) {
  Send({{"kind", "dismiss"}, {"reason", "deleted"}});
  EXPECT_EQ(session_->Next(Soon()).value().at("kind"), "dismiss");
  EXPECT_EQ(session_->Boundary(1, 1).value(), BoundaryAction::kDismiss);
}

TEST_F(SessionTest, AnAgentThatGoesOrTalksNonsenseIsLost) {
  Send({{"kind", "go"}});  // without g
  const absl::Status status = session_->Next(Soon()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"g\""));
  EXPECT_EQ(session_->Boundary(1, 1).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(session_->Store({{"op", "get"}}, "").status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(SessionTest, AStoreCallInFlightEndsWhenTheAgentGoes) {
  std::thread agent([&] {
    // The fake agent answers no "ignore".
    agent_.HangUp(0);
  });
  EXPECT_EQ(
      session_->Store({{"op", "ignore"}, {"keys", json::array({"k"})}}, "")
          .status()
          .code(),
      absl::StatusCode::kUnavailable);
  agent.join();
}

}  // namespace
}  // namespace dynatrain::runtime
