// The agent's gRPC door, in process: who is let in, what is refused, and that
// nothing which comes in does harm.
#include "agent/rpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/agent_state.h"
#include "agent/client/agent_api.h"
#include "agent/client/client.h"
#include "agent/client/codec.h"
#include "agent/config.h"
#include "agent/store_router.h"
#include "agent/worker_pool.h"
#include "base/deadline.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kKey[] = "00112233445566778899aabbccddeeff";

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

AgentConfig Config() {
  AgentConfig config;
  config.job = "gpt";
  config.job_namespace = "default";
  config.job_uid = "uid";
  config.serial = 3;
  config.key = kKey;
  return config;
}

class RpcServerTest : public ::testing::Test {
 protected:
  RpcServerTest()
      : router_([](const std::string&) {
          return absl::UnavailableError("no other agent");
        }),
        state_(Config(), &router_, &workers_,
               {.wake = [] {}, .memory = [] { return ContainerMemory(); }}),
        server_(*RpcServer::Start(0, kKey, &state_, &router_)),
        address_(absl::StrCat("127.0.0.1:", server_->port())),
        api_(*NewAgentClient(address_, kKey)) {}

  // A call that our client would never make; the status that comes back.
  grpc::Status CallRaw(const std::string& method, const std::string& bytes,
                       const std::string& key = kKey) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(-1);
    grpc::GenericStub stub(grpc::CreateCustomChannel(
        address_, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    context.AddMetadata(kKeyMetadata, key);
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer reply;
    grpc::Status status;
    grpc::CompletionQueue queue;
    auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
    call->StartCall();
    call->Finish(&reply, &status, &status);
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    return status;
  }

  bool Answers() { return api_->Observe(0, milliseconds(0), Soon()).ok(); }
  uint64_t Term() { return api_->Observe(0, milliseconds(0), Soon())->term; }

  WorkerPool workers_;
  StoreRouter router_;
  AgentState state_;
  std::unique_ptr<RpcServer> server_;
  const std::string address_;
  const std::unique_ptr<AgentApi> api_;
};

TEST_F(RpcServerTest, WhoeverHasTheKeyIsObeyed) {
  EXPECT_TRUE(api_->Greet({5, 0, ""}, Soon()).ok());
  EXPECT_EQ(Term(), 5);
}

TEST_F(RpcServerTest, AlmostTheKeyIsNoKey) {
  const std::string key = kKey;
  for (const std::string& shown :
       {std::string(), key.substr(1), key.substr(0, key.size() - 1), key + "0",
        "1" + key.substr(1), std::string(key.size(), '0')}) {
    const auto stranger = *NewAgentClient(address_, shown);
    const absl::Status status = stranger->Greet({9, 0, ""}, Soon());
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("dynatrain-key"));
  }
  EXPECT_EQ(Term(), 0);
}

TEST_F(RpcServerTest, ADeposedOperatorIsRefusedWithBothTerms) {
  ASSERT_TRUE(api_->Greet({5, 0, ""}, Soon()).ok());
  const absl::Status status = api_->Greet({4, 0, ""}, Soon());
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("4"), HasSubstr("5")));
  EXPECT_EQ(Term(), 5);
}

TEST_F(RpcServerTest, CommandsForAGenerationThatIsNotThereAreRefusedByName) {
  for (const absl::Status& status :
       {api_->Go({1, 7, "p"}, Soon()), api_->Commit({1, 7, "p"}, Soon()),
        api_->Cancel({1, 7, "p"}, Soon()),
        api_->Arm({1, 7, "p"}, 3, Soon()).status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("7"));
  }
}

TEST_F(RpcServerTest, BytesThatAreNoMessageChangeNothing) {
  for (const char* method : {"Greet", "Prepare", "Go", "Store", "Observe"}) {
    const grpc::Status status =
        CallRaw(absl::StrCat("/dynatrain.rpc.Agent/", method),
                "\xFF\xFF\xFF\xFF no protobuf");
    EXPECT_FALSE(status.ok()) << method;
    EXPECT_NE(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << method;
  }
  EXPECT_EQ(Term(), 0);
}

TEST_F(RpcServerTest, WhatIsNoMethodIsUnimplemented) {
  EXPECT_EQ(CallRaw("/dynatrain.rpc.Agent/Explode", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(Answers());
}

TEST_F(RpcServerTest, AMessageAboveTheLimitIsRefusedAndTheNextOneAnswered) {
  const grpc::Status status =
      CallRaw("/dynatrain.rpc.Agent/Greet", std::string((64 << 20) + 1, '\0'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
      << status.error_message();
  EXPECT_TRUE(Answers());
}

TEST_F(RpcServerTest, WithoutTheKeyNotEvenTheMessageIsLookedAt) {
  EXPECT_EQ(CallRaw("/dynatrain.rpc.Agent/Prepare", "", "no key").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(RpcServerTest, APortThatIsTakenIsNamed) {
  const absl::Status status =
      RpcServer::Start(server_->port(), kKey, &state_, &router_).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("port ", server_->port())));
}

TEST_F(RpcServerTest, StopEndsACallThatWaits) {
  const uint64_t known = api_->Observe(0, milliseconds(0), Soon())->version;
  absl::Status status;
  std::thread waiter([&] {
    status = api_->Observe(known, milliseconds(15'000), Soon()).status();
  });
  state_.StopWaits();
  server_->Stop();
  waiter.join();
  // It was answered, cut off, or came too late: what counts is that it ended.
  EXPECT_FALSE(Answers());
}

TEST(EqualInConstantTimeTest, IsEquality) {
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcd", "bbc"}) {
    EXPECT_FALSE(EqualInConstantTime("abc", other)) << other;
  }
}

}  // namespace
}  // namespace dynatrain::agent
