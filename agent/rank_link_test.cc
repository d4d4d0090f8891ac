#include "agent/rank_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {
namespace {

using api::Frame;
using api::FrameChannel;

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

class RankLinkTest : public ::testing::Test {
 protected:
  RankLinkTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    link_ = std::make_unique<RankLink>(
        *FrameChannel::Create(UniqueFd(ends[0]), "the rank"));
    rank_ = *FrameChannel::Create(UniqueFd(ends[1]), "the agent");
  }

  static Frame Go(int generation) {
    return Frame::Of({{"kind", "go"}, {"g", generation}});
  }

  std::unique_ptr<RankLink> link_;
  std::unique_ptr<FrameChannel> rank_;
};

TEST_F(RankLinkTest, WhatIsPostedComesInOrder) {
  for (int g = 1; g <= 100; ++g) link_->Post(Go(g));
  for (int g = 1; g <= 100; ++g) EXPECT_EQ(*rank_->Receive(Soon()), Go(g));
}

TEST_F(RankLinkTest, WhoeverPostsToARankThatDoesNotReadWaitsForNothing) {
  // More than the socket holds: Post would hang if it sent.
  const Frame large =
      Frame::Of({{"kind", "store_reply"}, {"text", std::string(1 << 20, 'x')}});
  for (int i = 0; i < 32; ++i) link_->Post(large);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(*rank_->Receive(Soon()), large);
}

TEST_F(RankLinkTest, ReceivesWhatTheRankSays) {
  ASSERT_TRUE(rank_->Send(Go(7), Soon()).ok());
  EXPECT_EQ(*link_->Receive(Soon()), Go(7));
}

TEST_F(RankLinkTest, CutEndsAReceiveThatWaits) {
  absl::Status status;
  std::thread receiver(
      [&] { status = link_->Receive(Deadline::Never()).status(); });
  link_->Cut();
  receiver.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
}

TEST_F(RankLinkTest, EndsWithAQueueThatNobodyReads) {
  for (int i = 0; i < 8; ++i) {
    link_->Post(
        Frame::Of({{"kind", "x"}, {"text", std::string(1 << 20, 'x')}}));
  }
  link_.reset();  // without waiting for the rank
  int whole = 0;
  while (rank_->Receive(Soon()).ok()) ++whole;
  EXPECT_LT(whole, 8);
}

TEST_F(RankLinkTest, ARankThatIsGoneCutsTheLink) {
  rank_.reset();
  link_->Post(Go(1));
  const absl::Status status = link_->Receive(Soon()).status();
  EXPECT_TRUE(absl::IsUnavailable(status) || absl::IsCancelled(status))
      << status;
}

}  // namespace
}  // namespace dynatrain::agent
