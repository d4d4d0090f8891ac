#include "transition/transport/host_transport.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/transport/dial.h"
#include "transition/transport/handshake.h"
#include "transition/transport/socket.h"

namespace dynatrain::transition {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr size_t kStaging = 64 << 10;

Deadline Soon() { return Deadline::After(milliseconds(20'000)); }

// Two processes of a job; the first has the lower id and dials.
class HostTransportTest : public testing::TestWithParam<bool> {
 protected:
  HostTransportTest() { Make("key", "key"); }

  void Make(const std::string& key, const std::string& listener_key,
            milliseconds park_limit = milliseconds(20'000)) {
    std::mt19937_64 random = TestRandom();
    id_ = random() >> 1;
    for (int i = 0; i < 2; ++i) {
      LinkListener::Options options;
      options.process_id = id_ + i;
      options.ip = "127.0.0.1";
      options.key = i == 0 ? key : listener_key;
      options.handshake_limit = milliseconds(300);
      options.park_limit = park_limit;
      transports_[i].reset();
      transports_[i] = HostTransport::Create(options).value();
    }
  }

  ConnectRequest Request(int self, uint64_t generation,
                         uint64_t attempt = 1) const {
    ConnectRequest request;
    request.generation = generation;
    request.attempt = {attempt, attempt};
    request.staging_bytes_per_direction = kStaging;
    request.peers = {{.process_id = id_ + 1 - self,
                      .data_address = transports_[1 - self]->address(),
                      .same_member = GetParam(),
                      .name = "rank " + std::to_string(1 - self)}};
    return request;
  }

  DialOptions Options(uint64_t generation) const {
    DialOptions options;
    options.hello.dialer = id_;
    options.hello.listener = id_ + 1;
    options.hello.generation = generation;
    options.hello.attempt = {1, 1};
    options.hello.staging_bytes = kStaging;
    options.key = "key";
    options.address = transports_[1]->address();
    options.local = GetParam();
    options.peer = "rank 1";
    return options;
  }

  // A raw connection to process 1.
  UniqueFd Raw() {
    return Connect(
               GetParam()
                   ? SocketAddress::LocalOf(id_ + 1)
                   : SocketAddress::Parse(transports_[1]->address()).value(),
               Soon(), never_)
        .value();
  }

  uint64_t id_ = 0;
  const Cancellation never_;
  std::unique_ptr<HostTransport> transports_[2];
};

TEST_P(HostTransportTest, BothGetOneLinkWhoeverComesFirst) {
  for (int first : {0, 1}) {
    const uint64_t generation = 5 + first;
    absl::StatusOr<Links> links[2] = {Links(), Links()};
    std::thread early([&] {
      links[first] = transports_[first]->Connect(Request(first, generation),
                                                 Soon(), never_);
    });
    links[1 - first] = transports_[1 - first]->Connect(
        Request(1 - first, generation), Soon(), never_);
    early.join();
    ASSERT_TRUE(links[0].ok()) << links[0].status();
    ASSERT_TRUE(links[1].ok()) << links[1].status();
    Link& a = *links[0]->at(id_ + 1);
    Link& b = *links[1]->at(id_);
    EXPECT_EQ(a.transport(), GetParam() ? "shm" : "tcp");
    EXPECT_EQ(a.peer(), "rank 1");
    EXPECT_EQ(b.peer(), "rank 0");
    EXPECT_EQ(a.staging_bytes(), 2 * kStaging);
    const std::vector<std::byte> bytes(10, std::byte{9});
    EXPECT_EQ(a.Write(bytes).value(), 10);
    while (b.Available().value().size() < 10) std::this_thread::yield();
  }
}

TEST_P(HostTransportTest, AnotherKeyIsRefusedOnBothSides) {
  Make("key", "another key");
  const absl::Status status =
      transports_[0]->Connect(Request(0, 5), Soon(), never_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("key"));
}

TEST_P(HostTransportTest, ADialerThatCannotProveTheKeyIsRefused) {
  // It takes any challenge and answers with a wrong proof.
  const UniqueFd socket = Raw();
  const std::string hello = EncodeHello(Options(5).hello);
  ASSERT_TRUE(SendAll(socket.get(), hello, Soon(), never_, "test").ok());
  std::vector<UniqueFd> descriptors;
  ASSERT_TRUE(ReceiveAll(socket.get(), kReplyHeaderBytes + kChallengeBytes,
                         Soon(), never_, "test", &descriptors)
                  .ok());
  ASSERT_TRUE(
      SendAll(socket.get(), std::string(32, 'x'), Soon(), never_, "test").ok());
  const std::string reply = ReceiveAll(socket.get(), kReplyHeaderBytes, Soon(),
                                       never_, "test", &descriptors)
                                .value();
  EXPECT_EQ(DecodeReplyHeader(reply)->code,
            absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(descriptors.empty());
}

TEST_P(HostTransportTest,
       AGenerationThatNobodyPreparesIsRefusedWithThoseKnown) {
  Make("key", "key", /*park_limit=*/milliseconds(50));
  std::thread listener([&] {
    const Cancellation never;
    EXPECT_FALSE(
        transports_[1]
            ->Connect(Request(1, 5), Deadline::After(milliseconds(1000)), never)
            .ok());
  });
  // Its own expectation may not be there yet: then no generation is named.
  absl::Status status;
  for (int i = 0; i < 50; ++i) {
    status = Dial(Options(9), Soon(), never_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("generation 9"));
    if (status.message().find("generation 5") != absl::string_view::npos) break;
  }
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("it prepares generation 5"));
  listener.join();
}

TEST_P(HostTransportTest, AnotherAttemptIsNoneOfOurs) {
  Make("key", "key", /*park_limit=*/milliseconds(50));
  std::thread listener([&] {
    const Cancellation never;
    EXPECT_FALSE(transports_[1]
                     ->Connect(Request(1, 5, /*attempt=*/2),
                               Deadline::After(milliseconds(1000)), never)
                     .ok());
  });
  absl::Status status;
  for (int i = 0; i < 50; ++i) {
    status = Dial(Options(5), Soon(), never_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    if (status.message().find("another") != absl::string_view::npos) break;
  }
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("another transition to generation 5"));
  listener.join();
}

TEST_P(HostTransportTest, AStrangerOfTheTransitionIsRefused) {
  std::thread listener([&] {
    const Cancellation never;
    EXPECT_FALSE(
        transports_[1]
            ->Connect(Request(1, 5), Deadline::After(milliseconds(500)), never)
            .ok());
  });
  DialOptions options = Options(5);
  options.hello.dialer = 12345;
  const absl::Status status = Dial(options, Soon(), never_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  listener.join();
}

TEST_P(HostTransportTest, MalformedAndSilentDialersDoNoHarm) {
  const UniqueFd silent = Raw();
  for (const std::string& bytes :
       {std::string(kHelloBytes, 'G'), std::string("GET / HTTP/1.1\r\n\r\n"),
        EncodeHello(Options(5).hello) + std::string(100, 'x'),
        EncodeHello(Options(5).hello).substr(0, 20)}) {
    const UniqueFd socket = Raw();
    ASSERT_TRUE(SendAll(socket.get(), bytes, Soon(), never_, "test").ok());
    shutdown(socket.get(), SHUT_WR);
    char reply[4096];
    while (recv(socket.get(), reply, sizeof(reply), 0) > 0) {
    }
  }
  // The silent one is let go after the handshake's limit.
  char byte;
  while (recv(silent.get(), &byte, 1, 0) > 0) {
  }
  absl::StatusOr<Links> other = Links();
  std::thread listener([&] {
    const Cancellation never;
    other = transports_[1]->Connect(Request(1, 5), Soon(), never);
  });
  EXPECT_TRUE(transports_[0]->Connect(Request(0, 5), Soon(), never_).ok());
  listener.join();
  EXPECT_TRUE(other.ok());
}

TEST_P(HostTransportTest, WaitsEndByDeadlineCancelAndForgetAndNameThePeer) {
  absl::Status status =
      transports_[1]
          ->Connect(Request(1, 5), Deadline::After(milliseconds(50)), never_)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0"));
  status =
      transports_[0]
          ->Connect(Request(0, 6), Deadline::After(milliseconds(50)), never_)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1"));
  for (int self : {0, 1}) {
    Cancellation cancel;
    std::thread waiter([&] {
      const absl::Status ended =
          transports_[self]->Connect(Request(self, 7), Soon(), cancel).status();
      EXPECT_EQ(ended.code(), absl::StatusCode::kCancelled) << ended;
      EXPECT_THAT(std::string(ended.message()), HasSubstr("aborted"));
    });
    cancel.Cancel("aborted");
    waiter.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, HostTransportTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "SharedMemory" : "Tcp";
                         });

TEST(SocketAddressTest, ReadsAndWritesIpAndPort) {
  for (const char* text : {"10.0.0.3:4711", "[fd00::3]:1"}) {
    EXPECT_EQ(SocketAddress::Parse(text)->ToString(), text);
  }
  for (const char* text : {"", "10.0.0.3", ":1", "localhost:1", "fd00::3:1x",
                           "10.0.0.3:65536", "10.0.0.3:-1", "[10.0.0.3]:1"}) {
    EXPECT_EQ(SocketAddress::Parse(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(StagingBudgetTest,
     IsSharedByAllLinksAndRefusedWithTheNumberBelowItsLeast) {
  StagingBudget budget;
  EXPECT_EQ(budget.PerDirection(1).value(), size_t{1} << 20);
  EXPECT_EQ(budget.PerDirection(64).value(), size_t{512} << 10);
  budget.total_bytes = 1 << 20;
  const absl::Status status = budget.PerDirection(33).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(std::to_string(33 * 2 * kMinStagingBytes)));
}

}  // namespace
}  // namespace dynatrain::transition
