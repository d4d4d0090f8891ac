// What every link promises, for both kinds.
#include "transition/transport/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/transport/shm_link.h"
#include "transition/transport/tcp_link.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

constexpr size_t kStaging = 16 << 10;

struct Ends {
  std::unique_ptr<Link> a, b;
};

std::pair<UniqueFd, UniqueFd> Sockets() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

ShmResources Duplicate(const ShmResources& resources) {
  ShmResources copy;
  copy.memory.Reset(fcntl(resources.memory.get(), F_DUPFD_CLOEXEC, 0));
  for (int i = 0; i < 2; ++i) {
    copy.bells[i].Reset(fcntl(resources.bells[i].get(), F_DUPFD_CLOEXEC, 0));
  }
  return copy;
}

Ends MakeTcp() {
  auto [a, b] = Sockets();
  return {TcpLink::Create(std::move(a), kStaging, "rank 0").value(),
          TcpLink::Create(std::move(b), kStaging, "rank 1").value()};
}

Ends MakeShm() {
  auto [a, b] = Sockets();
  ShmResources resources = MakeShmResources(kStaging).value();
  ShmResources copy = Duplicate(resources);
  return {ShmLink::Create(std::move(resources), ShmLink::Side::kMaker,
                          std::move(a), kStaging, "rank 0")
              .value(),
          ShmLink::Create(std::move(copy), ShmLink::Side::kOther, std::move(b),
                          kStaging, "rank 1")
              .value()};
}

void WaitFor(Link& link, bool want_space) {
  std::vector<pollfd> fds;
  if (!link.PrepareToWait(want_space, &fds)) {
    EXPECT_GT(poll(fds.data(), fds.size(), 20'000), 0) << "no wake-up";
  }
  link.FinishWaiting();
}

std::byte ByteAt(size_t i, int salt) {
  return std::byte((i * 131 + salt) >> 3);
}

// Sends `total` bytes, through staging or past it at random.
void SendAll(Link& link, size_t total, int salt) {
  std::mt19937_64 random = TestRandom(salt);
  for (size_t at = 0; at < total;) {
    const size_t want = std::min<size_t>(random() % 30'000 + 1, total - at);
    size_t n = 0;
    if (random() % 2 == 0) {
      std::vector<std::byte> bytes(want);
      for (size_t i = 0; i < want; ++i) bytes[i] = ByteAt(at + i, salt);
      n = link.Write(bytes).value();
    } else {
      auto space = link.Space().value();
      n = std::min(space.size(), want);
      for (size_t i = 0; i < n; ++i) space[i] = ByteAt(at + i, salt);
      ASSERT_TRUE(link.Commit(n).ok());
    }
    at += n;
    if (n == 0) WaitFor(link, /*want_space=*/true);
  }
  while (!link.Flush().value()) WaitFor(link, /*want_space=*/true);
}

size_t ReceiveAll(Link& link, size_t total, int salt) {
  std::mt19937_64 random = TestRandom(salt + 100);
  size_t wrong = 0;
  std::vector<std::byte> buffer(30'000);
  for (size_t at = 0; at < total;) {
    const size_t want = std::min<size_t>(random() % 30'000 + 1, total - at);
    size_t n = 0;
    if (random() % 2 == 0) {
      n = link.Read(absl::MakeSpan(buffer).subspan(0, want)).value();
      for (size_t i = 0; i < n; ++i) wrong += buffer[i] != ByteAt(at + i, salt);
    } else {
      const auto bytes = link.Available().value();
      n = std::min(bytes.size(), want);
      for (size_t i = 0; i < n; ++i) wrong += bytes[i] != ByteAt(at + i, salt);
      link.Consume(n);
    }
    at += n;
    if (n == 0) WaitFor(link, /*want_space=*/false);
  }
  return wrong;
}

struct Kind {
  const char* name;
  std::function<Ends()> make;
};

class LinkTest : public testing::TestWithParam<Kind> {};

TEST_P(LinkTest, EachByteComesInOrderAndIsCounted) {
  constexpr size_t kTotal = 2'000'000;
  const Ends ends = GetParam().make();
  std::thread sender([&] { SendAll(*ends.a, kTotal, 1); });
  EXPECT_EQ(ReceiveAll(*ends.b, kTotal, 1), 0);
  sender.join();
  EXPECT_EQ(ends.a->bytes_sent(), kTotal);
  EXPECT_EQ(ends.b->bytes_received(), kTotal);
  EXPECT_EQ(ends.b->bytes_sent(), 0);
}

TEST_P(LinkTest, StagingThatWasFullIsFreeAgainOnceThePeerHasRead) {
  const Ends ends = GetParam().make();
  size_t sent = 0;
  while (true) {
    const size_t n = ends.a->Space().value().size();
    if (n == 0) break;
    ASSERT_TRUE(ends.a->Commit(n).ok());
    sent += n;
  }
  // Space() alone has to push on what had found no place in the socket.
  for (size_t received = 0; received < sent;) {
    const size_t n = ends.b->Available().value().size();
    ends.b->Consume(n);
    received += n;
    if (n == 0) {
      ASSERT_FALSE(ends.a->Space().value().empty())
          << received << " of " << sent << " bytes came";
    }
  }
}

TEST_P(LinkTest, NeverBlocksAndTakesNoMoreThanItsStaging) {
  const Ends ends = GetParam().make();
  EXPECT_TRUE(ends.b->Available().value().empty());
  std::vector<std::byte> bytes(100'000'000);
  size_t sent = 0;
  for (int fruitless = 0; fruitless < 3;) {
    const size_t n = ends.a->Write(absl::MakeSpan(bytes).subspan(sent)).value();
    sent += n;
    fruitless = n == 0 ? fruitless + 1 : 0;
  }
  EXPECT_LT(sent, bytes.size());
  EXPECT_GT(sent, 0);
  EXPECT_LE(ends.a->staging_bytes(), 2 * kStaging);
}

TEST_P(LinkTest, WhatWasSentBeforeTheEndStillComes) {
  Ends ends = GetParam().make();
  const std::vector<std::byte> bytes(5000, std::byte{7});
  ASSERT_EQ(ends.a->Write(bytes).value(), 5000);
  ends.a.reset();
  WaitFor(*ends.b, false);
  std::vector<std::byte> got(5000);
  ASSERT_EQ(ends.b->Read(absl::MakeSpan(got)).value(), 5000);
  EXPECT_EQ(got, bytes);
  WaitFor(*ends.b, false);
  const absl::Status end = ends.b->Available().status();
  EXPECT_EQ(end.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(end.message()), HasSubstr("rank 1"));
}

TEST_P(LinkTest, ASenderSeesThatItsPeerIsGone) {
  Ends ends = GetParam().make();
  ends.b.reset();
  WaitFor(*ends.a, false);
  const std::vector<std::byte> bytes(1000);
  EXPECT_EQ(ends.a->Write(bytes).status().code(),
            absl::StatusCode::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Each, LinkTest,
                         testing::Values(Kind{"Tcp", MakeTcp},
                                         Kind{"Shm", MakeShm}),
                         [](const auto& info) { return info.param.name; });

TEST(ShmLinkTest, RefusesMemoryThatAPeerCouldTakeAway) {
  auto [a, b] = Sockets();
  ShmResources resources = MakeShmResources(kStaging).value();
  // Without seals: the peer could shrink it, and reading it would be SIGBUS.
  resources.memory.Reset(memfd_create("unsealed", MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(resources.memory.get(), 4096 + 2 * kStaging), 0);
  const absl::Status status =
      ShmLink::Create(std::move(resources), ShmLink::Side::kOther, std::move(a),
                      kStaging, "rank 1")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("sealed"));
}

TEST(ShmLinkTest, RefusesMemoryOfAnotherSize) {
  auto [a, b] = Sockets();
  const absl::Status status =
      ShmLink::Create(MakeShmResources(2 * kStaging).value(),
                      ShmLink::Side::kOther, std::move(a), kStaging, "rank 1")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(MakeShmResources(5000).ok());
  EXPECT_FALSE(MakeShmResources(0).ok());
}

}  // namespace
}  // namespace dynatrain::transition
