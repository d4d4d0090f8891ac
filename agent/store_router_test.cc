#include "agent/store_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "agent/client/agent_api.h"
#include "agent/client/messages.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// Another agent: hosts a store, or without one never answers.
class FakeHost : public AgentApi {
 public:
  FakeHost(RendezvousStore* store, absl::Notification* called)
      : store_(store), called_(called) {}

  absl::StatusOr<StoreReply> Store(const StoreRequest& request,
                                   Deadline) override {
    if (store_ != nullptr) return store_->Call(request);
    called_->Notify();
    cancelled_.WaitForNotification();
    return absl::CancelledError("cancelled");
  }
  void CancelCalls() override { cancelled_.Notify(); }

  absl::StatusOr<Observation> Observe(uint64_t, milliseconds,
                                      Deadline) override {
    return Observation();
  }
  absl::Status Greet(const Fence&, Deadline) override { return {}; }
  absl::Status Prepare(const Fence&, const Transition&, Deadline) override {
    return {};
  }
  absl::StatusOr<ArmReply> Arm(const Fence&, uint64_t, Deadline) override {
    return ArmReply();
  }
  absl::Status Go(const Fence&, Deadline) override { return {}; }
  absl::Status Cancel(const Fence&, Deadline) override { return {}; }
  absl::Status Abort(const Fence&, const std::string&, Deadline) override {
    return {};
  }
  absl::Status Commit(const Fence&, Deadline) override { return {}; }
  absl::Status Dismiss(const Fence&, const std::string&, Deadline) override {
    return {};
  }
  absl::StatusOr<Manifest> GetManifest(Deadline) override { return Manifest(); }

 private:
  RendezvousStore* const store_;
  absl::Notification* const called_;
  absl::Notification cancelled_;
};

StoreRequest Get(uint64_t generation,
                 milliseconds timeout = milliseconds(60000)) {
  return {
      .generation = generation, .op = "get", .keys = {"k"}, .timeout = timeout};
}
StoreRequest Set(uint64_t generation) {
  return {.generation = generation, .op = "set", .keys = {"k"}, .value = "v"};
}

class StoreRouterTest : public ::testing::Test {
 protected:
  StoreRouter Router(RendezvousStore* remote = nullptr) {
    return StoreRouter([this, remote](const std::string& address)
                           -> absl::StatusOr<std::unique_ptr<AgentApi>> {
      if (address == "bad") return absl::InvalidArgumentError("no address");
      return std::make_unique<FakeHost>(remote, &called_);
    });
  }
  absl::Notification called_;
};

TEST_F(StoreRouterTest, ServesItsOwnRanksAndOtherAgentsAlike) {
  StoreRouter router = Router();
  router.OpenHere(4);
  EXPECT_TRUE(router.FromRank(Set(4)).ok);
  EXPECT_EQ(router.FromAgent(Get(4)).value, "v");
}

TEST_F(StoreRouterTest, TakesCallsToTheHost) {
  RendezvousStore remote;
  StoreRouter router = Router(&remote);
  router.OpenAt(4, "10.0.0.2:7070");
  EXPECT_TRUE(router.FromRank(Set(4)).ok);
  EXPECT_EQ(remote.Call(Get(4)).value, "v");
  EXPECT_THAT(router.FromAgent(Get(4)).error, HasSubstr("another agent"));
}

TEST_F(StoreRouterTest, CloseEndsACallThatWaitsAtTheHost) {
  StoreRouter router = Router();
  router.OpenAt(4, "10.0.0.2:7070");
  StoreReply reply;
  std::thread rank([&] { reply = router.FromRank(Get(4)); });
  called_.WaitForNotification();
  router.Close(4, "it is aborted");
  rank.join();
  EXPECT_EQ(reply.error,
            "closed: the store of generation 4 is over: it is aborted");
}

TEST_F(StoreRouterTest, ACallOfAnotherAgentWaitsUntilItIsOpen) {
  StoreRouter router = Router();
  StoreReply reply;
  std::thread peer([&] { reply = router.FromAgent(Get(4)); });
  router.OpenHere(4);
  EXPECT_TRUE(router.FromRank(Set(4)).ok);
  peer.join();
  EXPECT_EQ(reply.value, "v");
  EXPECT_THAT(router.FromAgent(Get(5, milliseconds(10))).error,
              HasSubstr("no transition to generation 5"));
}

TEST_F(StoreRouterTest, WhatWasClosedStaysClosed) {
  StoreRouter router = Router();
  router.Close(5, "aborted before it came");
  router.OpenHere(4);
  router.OpenHere(5);
  for (uint64_t generation : {4, 5}) {
    EXPECT_THAT(router.FromRank(Set(generation)).error,
                HasSubstr("closed: the store of generation 5 is over"));
  }
  router.OpenHere(6);
  EXPECT_TRUE(router.FromRank(Set(6)).ok);
}

TEST_F(StoreRouterTest, AHostWithoutAnAddressIsTold) {
  StoreRouter router = Router();
  router.OpenAt(4, "bad");
  EXPECT_THAT(router.FromRank(Get(4)).error, HasSubstr("no address"));
}

}  // namespace
}  // namespace dynatrain::agent
