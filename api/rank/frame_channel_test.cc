#include "api/rank/frame_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

struct Pair {
  std::unique_ptr<FrameChannel> channel;
  UniqueFd other;
};

Pair MakePair() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {FrameChannel::Create(UniqueFd(fds[0]), "the agent").value(),
          UniqueFd(fds[1])};
}

Deadline Soon() { return Deadline::After(milliseconds(20'000)); }

TEST(FrameChannelTest, ManySendersFramesNeverMix) {
  Pair pair = MakePair();
  auto receiver =
      FrameChannel::Create(std::move(pair.other), "the rank").value();
  constexpr int kSenders = 4, kEach = 50;
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      const std::string value(100'000, static_cast<char>('a' + s));
      for (int i = 0; i < kEach; ++i) {
        EXPECT_TRUE(pair.channel
                        ->Send(Frame::Of({{"kind", "store"},
                                          {"id", s},
                                          {"value", BinaryField(value)}}),
                               Soon())
                        .ok());
      }
    });
  }
  std::vector<int> counts(kSenders);
  for (int i = 0; i < kSenders * kEach; ++i) {
    const Frame frame = receiver->Receive(Soon()).value();
    const int s = static_cast<int>(frame.Int("id").value());
    EXPECT_EQ(frame.Bytes("value").value(),
              std::string(100'000, static_cast<char>('a' + s)));
    ++counts[s];
  }
  for (auto& sender : senders) sender.join();
  EXPECT_EQ(counts, std::vector<int>(kSenders, kEach));
}

TEST(FrameChannelTest, ReceiveTimesOutAndSaysWhomItWaitedFor) {
  Pair pair = MakePair();
  const absl::Status status =
      pair.channel->Receive(Deadline::After(milliseconds(10))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the agent"));
}

TEST(FrameChannelTest, SendToAStalledPeerTimesOut) {
  Pair pair = MakePair();
  const Frame frame = Frame::Of(
      {{"kind", "store"}, {"value", BinaryField(std::string(8 << 20, 'x'))}});
  const absl::Status status =
      pair.channel->Send(frame, Deadline::After(milliseconds(50)));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("store"));
}

TEST(FrameChannelTest, CancelEndsAWaitThatHasNoDeadline) {
  Pair pair = MakePair();
  std::thread waiter([&] {
    EXPECT_EQ(pair.channel->Receive(Deadline::Never()).status().code(),
              absl::StatusCode::kCancelled);
  });
  pair.channel->Cancel();
  waiter.join();
  EXPECT_EQ(pair.channel->Receive(Deadline::Never()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(FrameChannelTest, AClosedPeerIsUnavailableAndACutFrameIsNamed) {
  Pair pair = MakePair();
  ASSERT_EQ(write(pair.other.get(), "\x05\0\0", 3), 3);
  pair.other.Reset();
  const absl::Status status = pair.channel->Receive(Soon()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("middle of a frame"));
  EXPECT_EQ(pair.channel->Send(Frame::Of({{"kind", "left"}}), Soon()).code(),
            absl::StatusCode::kUnavailable);
}

TEST(FrameChannelTest, ConnectNamesThePath) {
  const absl::Status missing =
      FrameChannel::Connect("/nonexistent/socket", Soon()).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nonexistent/socket"));
  EXPECT_EQ(
      FrameChannel::Connect(std::string(200, 'x'), Soon()).status().code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace dynatrain::api
