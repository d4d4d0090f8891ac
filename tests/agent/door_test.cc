// Bad input at each door of the agent: it says what is wrong, changes nothing
// and lives.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "agent/client/client.h"
#include "tests/agent/agent_process.h"
#include "tests/agent/test_operator.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using transition::Phase;

Deadline Soon() { return Deadline::After(kPatience); }

TEST(RpcDoorTest, WithoutTheKeyNothingIsAnswered) {
  AgentProcess agent({.ranks = 1});
  agent.AwaitHello();
  for (const std::string key : {"", "0", "00112233445566778899aabbccddeefe"}) {
    auto stranger = NewAgentClient(agent.address(), key);
    AgentApi& api = **stranger;
    for (const absl::Status& status :
         {api.Observe(0, milliseconds(0), Soon()).status(),
          api.Greet({9, 0, ""}, Soon()), api.Prepare({}, {}, Soon()),
          api.Arm({}, 1, Soon()).status(), api.Go({}, Soon()),
          api.Cancel({}, Soon()), api.Abort({}, "", Soon()),
          api.Commit({}, Soon()), api.Dismiss({9, 0, ""}, "", Soon()),
          api.GetManifest(Soon()).status(), api.Store({}, Soon()).status()}) {
      EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
      EXPECT_THAT(status.message(), HasSubstr("dynatrain-key"));
    }
  }
  EXPECT_EQ(agent.Look().term, 0);
}

TEST(RpcDoorTest, BytesThatAreNoGrpcDoNoHarm) {
  AgentProcess agent({.ranks = 1});
  agent.AwaitHello();
  const std::string address = agent.address();
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(address.substr(address.find(':') + 1), &port));
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100000, '\xFF'),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xFF\xFF\xFF\x01", 28)}) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    (void)::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::close(fd);
  }
  EXPECT_EQ(agent.Look().ranks[0].state, RankState::kReady);
}

// A call of gRPC whose content is `bytes`; how it was answered.
grpc::Status CallWith(const std::string& address, const std::string& method,
                      const std::string& bytes) {
  grpc::GenericStub stub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.AddMetadata("dynatrain-key", kTestKey);
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer reply;
  grpc::Status status;
  absl::Notification done;
  stub.UnaryCall(&context, absl::StrCat("/dynatrain.rpc.Agent/", method), {},
                 &request, &reply, [&](grpc::Status answer) {
                   status = std::move(answer);
                   done.Notify();
                 });
  done.WaitForNotification();
  return status;
}

TEST(RpcDoorTest, BytesThatAreNoMessageAreRefusedAndChangeNothing) {
  AgentProcess agent({.ranks = 1});
  agent.AwaitHello();
  for (const char* method :
       {"Observe", "Greet", "Prepare", "Arm", "Go", "Cancel", "Abort", "Commit",
        "Dismiss", "GetManifest", "Store"}) {
    // A tag that is none; a fence that ends before its length.
    for (const std::string& bytes : {std::string("\xFF\xFF\xFF\xFF\xFF"),
                                     std::string("\x0A\x7F\x08\x09")}) {
      EXPECT_EQ(CallWith(agent.address(), method, bytes).error_code(),
                grpc::StatusCode::INTERNAL)
          << method;
    }
  }
  EXPECT_EQ(CallWith(agent.address(), "Obey", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  // An empty message is one: nothing of it fits.
  EXPECT_EQ(CallWith(agent.address(), "Prepare", "").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  const Observation seen = agent.Look();
  EXPECT_EQ(seen.term, 0);
  EXPECT_EQ(seen.transition.phase, Phase::kNone);
  EXPECT_EQ(seen.ranks[0].state, RankState::kReady);
}

class PrepareDoorTest : public ::testing::Test {
 protected:
  PrepareDoorTest() {
    const Member me = agent_.AsMember();
    good_ = {.id = "t",
             .generation = 1,
             .target = {1, "dp1,tp1,pp1", {me}},
             .transfer_deadline = milliseconds(60000),
             .prepare_deadline = milliseconds(60000)};
  }
  absl::Status Prepare(const Transition& transition) {
    return agent_.api().Prepare({1, 1, ""}, transition, Soon());
  }

  AgentProcess agent_{{.ranks = 2, .tricks = "no_verify"}};
  Transition good_;
};

TEST_F(PrepareDoorTest, RefusesWhatDoesNotFitThisPod) {
  Transition bad = good_;
  bad.target.members[0].ranks[1].process_id = 5;
  absl::Status status = Prepare(bad);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(status.message(), HasSubstr("names process 5 as local rank 1"));

  bad = good_;
  bad.target.members[0].ranks.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(Prepare(bad)));

  bad = good_;
  bad.target.members[0].serial = 77;
  EXPECT_THAT(Prepare(bad).message(), HasSubstr("in neither world"));

  bad = good_;
  bad.generation = bad.target.generation = 2;
  EXPECT_THAT(Prepare(bad).message(), HasSubstr("fence.generation is 1"));

  EXPECT_EQ(agent_.Look().transition.phase, Phase::kNone);
}

TEST_F(PrepareDoorTest, RefusesAnotherGenerationAndPlanByName) {
  ASSERT_TRUE(Prepare(good_).ok());
  agent_.AwaitPhase(Phase::kPrepared);
  EXPECT_THAT(agent_.api().Go({1, 2, "p1"}, Soon()).message(),
              HasSubstr("other generation: this command is for 2"));
  EXPECT_THAT(agent_.api().Go({1, 1, "px"}, Soon()).message(),
              HasSubstr("other plan: this command has digest 'px'"));
  EXPECT_EQ(agent_.Look().transition.phase, Phase::kPrepared);
  EXPECT_TRUE(
      absl::IsFailedPrecondition(agent_.api().GetManifest(Soon()).status()));
}

TEST_F(PrepareDoorTest, StoreCallsOfOtherAgentsWaitForPrepareAndNoLonger) {
  auto peer = NewAgentClient(agent_.address(), kTestKey);
  StoreReply early;
  std::thread waiter([&] {
    early = *(*peer)->Store({.generation = 1,
                             .op = "get",
                             .keys = {"all here"},
                             .timeout = std::chrono::seconds(30)},
                            Soon());
  });
  ASSERT_TRUE(Prepare(good_).ok());
  waiter.join();
  EXPECT_EQ(early.value, "yes");  // as the ranks have met there
  StoreReply reply = *(*peer)->Store({.generation = 9,
                                      .op = "get",
                                      .keys = {"x"},
                                      .timeout = milliseconds(10)},
                                     Soon());
  EXPECT_THAT(reply.error, HasSubstr("no transition to generation 9"));
  reply = *(*peer)->Store({.generation = 1,
                           .op = "get",
                           .keys = {"x"},
                           .timeout = milliseconds(10)},
                          Soon());
  EXPECT_THAT(reply.error, HasSubstr("timeout: "));
  ASSERT_TRUE(agent_.api().Abort({1, 1, ""}, "enough", Soon()).ok());
  reply = *(*peer)->Store({.generation = 1, .op = "num_keys"}, Soon());
  EXPECT_THAT(reply.error, HasSubstr("closed: the store of generation 1 is "
                                     "over: the transition was given up"));
}

// A rank that breaks the protocol is named and killed, and its pod fails.
class RankDoorTest
    : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RankDoorTest, NonsenseIsNamedAndEndsThePod) {
  const auto& [trick, message] = GetParam();
  AgentProcess agent({.ranks = 2, .tricks = trick + "@1"});
  if (trick == "nonsense") {
    const Member me = agent.AsMember();
    const absl::Status status =
        agent.api().Prepare({1, 1, ""},
                            {.id = "t",
                             .generation = 1,
                             .target = {1, "dp2,tp1,pp1", {me}},
                             .transfer_deadline = milliseconds(60000),
                             .prepare_deadline = milliseconds(60000)},
                            Soon());
    ASSERT_TRUE(status.ok()) << status << agent.Output();
  }
  EXPECT_EQ(agent.AwaitExit(), 137);
  EXPECT_THAT(agent.Output(), HasSubstr("local rank 1 broke the protocol: "));
  EXPECT_THAT(agent.Output(), HasSubstr(message));
}

INSTANTIATE_TEST_SUITE_P(
    All, RankDoorTest,
    ::testing::Values(std::pair("garbage", "frame"), std::pair("huge", "bytes"),
                      std::pair("nonsense", "said 'verified'")),
    [](const auto& info) { return info.param.first; });

}  // namespace
}  // namespace dynatrain::agent
