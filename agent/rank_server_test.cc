// The socket of the ranks, and what strangers do to it.
#include "agent/rank_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "api/rank/frame_channel.h"
#include "base/deadline.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {
namespace {

using api::Frame;
using api::FrameChannel;
using ::testing::HasSubstr;

Deadline Soon() { return Deadline::After(std::chrono::seconds(20)); }

Frame HelloOf(int rank) {
  return Frame::Of({{"kind", "hello"}, {"local_rank", rank}});
}

// Takes hellos of ranks 0 and 1; notes the rest.
class Notes : public RankEvents {
 public:
  absl::StatusOr<int> Hello(const Frame& hello,
                            std::shared_ptr<RankLink> link) override {
    const absl::StatusOr<int64_t> rank = hello.Int("local_rank");
    if (hello.kind() != "hello" || !rank.ok() || *rank < 0 || *rank > 1) {
      return absl::InvalidArgumentError("no hello of rank 0 or 1");
    }
    link->Post(Frame::Of({{"kind", "welcome"}}));
    return static_cast<int>(*rank);
  }
  absl::Status Report(int rank, const Frame& frame) override {
    if (frame.kind() == "nonsense") {
      return absl::InvalidArgumentError("nonsense");
    }
    Note(absl::StrCat(rank, " ", frame.kind()));
    return absl::OkStatus();
  }
  void Lost(int rank, const absl::Status& why) override {
    Note(absl::StrCat(rank, " lost ", absl::StatusCodeToString(why.code()), " ",
                      std::string(why.message())));
  }

  // The next note, within 20 s.
  std::string Next() {
    absl::MutexLock lock(&mutex_);
    const auto some = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return !notes_.empty();
    };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&some), absl::Seconds(20))) {
      return "nothing";
    }
    std::string note = notes_.front();
    notes_.pop_front();
    return note;
  }

 private:
  void Note(std::string note) {
    absl::MutexLock lock(&mutex_);
    notes_.push_back(std::move(note));
  }

  absl::Mutex mutex_;
  std::deque<std::string> notes_ ABSL_GUARDED_BY(mutex_);
};

class RankServerTest : public ::testing::Test {
 protected:
  RankServerTest()
      : path_(absl::StrCat("/tmp/dynatrain-rank-server-", getpid(), ".sock")),
        server_(*RankServer::Listen(path_)) {
    server_->Start(&notes_);
  }

  std::unique_ptr<FrameChannel> Dial() const {
    return *FrameChannel::Connect(path_, Soon());
  }

  // A rank whose hello was taken.
  std::unique_ptr<FrameChannel> Join(int rank) const {
    std::unique_ptr<FrameChannel> channel = Dial();
    EXPECT_TRUE(channel->Send(HelloOf(rank), Soon()).ok());
    EXPECT_EQ(channel->Receive(Soon())->kind(), "welcome");
    return channel;
  }

  // A connection for raw bytes.
  UniqueFd DialRaw() const {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address),
                        sizeof(address)),
              0);
    return socket;
  }

  Notes notes_;
  const std::string path_;
  std::unique_ptr<RankServer> server_;
};

void SendRaw(const UniqueFd& socket, const std::string& bytes) {
  EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// True once the server has closed this connection.
bool IsClosed(const UniqueFd& socket) {
  const timeval limit = {20, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  char byte;
  return ::recv(socket.get(), &byte, 1, 0) <= 0;
}

TEST_F(RankServerTest, FramesOfARankComeInOrderUnderItsNumber) {
  const auto a = Join(0);
  const auto b = Join(1);
  ASSERT_TRUE(a->Send(Frame::Of({{"kind", "step"}}), Soon()).ok());
  EXPECT_EQ(notes_.Next(), "0 step");
  ASSERT_TRUE(b->Send(Frame::Of({{"kind", "prepared"}}), Soon()).ok());
  EXPECT_EQ(notes_.Next(), "1 prepared");
}

TEST_F(RankServerTest, ARankThatGoesIsLostOnce) {
  Join(1).reset();
  EXPECT_THAT(notes_.Next(), HasSubstr("1 lost UNAVAILABLE"));
  Join(0).reset();
  EXPECT_THAT(notes_.Next(), HasSubstr("0 lost UNAVAILABLE"));
}

TEST_F(RankServerTest, ARankThatTalksNonsenseIsCutAndLostWithTheReason) {
  const auto rank = Join(0);
  ASSERT_TRUE(rank->Send(Frame::Of({{"kind", "nonsense"}}), Soon()).ok());
  EXPECT_EQ(notes_.Next(), "0 lost INVALID_ARGUMENT nonsense");
  EXPECT_TRUE(absl::IsUnavailable(rank->Receive(Soon()).status()));
}

TEST_F(RankServerTest, BytesThatAreNoFrameEndARankWithTheReason) {
  const UniqueFd socket = DialRaw();
  SendRaw(socket, *api::EncodeFrame(HelloOf(1)));
  SendRaw(socket, std::string("\x04\0\0\0\xFF\xFF\xFF\xFF", 8));
  EXPECT_THAT(notes_.Next(), HasSubstr("1 lost INVALID_ARGUMENT"));
}

TEST_F(RankServerTest, AFrameThatClaimsTooMuchIsRefusedBeforeItsBody) {
  const UniqueFd socket = DialRaw();
  SendRaw(socket, *api::EncodeFrame(HelloOf(1)));
  SendRaw(socket, std::string("\xFF\xFF\xFF\x7F", 4));
  EXPECT_THAT(notes_.Next(),
              HasSubstr("1 lost INVALID_ARGUMENT a frame claims 2147483647 "
                        "bytes; at most 67108864 are allowed"));
}

TEST_F(RankServerTest, StrangersAreTurnedAwayAndNobodyElseNotices) {
  const auto rank = Join(0);
  const std::vector<std::string> strangers = {
      "GET / HTTP/1.1\r\n\r\n",                           // a length of 542 MB
      std::string("\xFF\xFF\xFF\xFF", 4),                 // 4 GiB
      std::string("\x01\0\0\0\xF6", 5),                   // null
      std::string("\0\0\0\0", 4),                         // an empty frame
      *api::EncodeFrame(Frame::Of({{"kind", "step"}})),   // no hello
      *api::EncodeFrame(Frame::Of({{"kind", "hello"}})),  // of whom?
      *api::EncodeFrame(HelloOf(7)),
  };
  for (const std::string& bytes : strangers) {
    const UniqueFd socket = DialRaw();
    SendRaw(socket, bytes);
    EXPECT_TRUE(IsClosed(socket)) << bytes;
  }
  { const UniqueFd silent = DialRaw(); }  // comes and goes
  ASSERT_TRUE(rank->Send(Frame::Of({{"kind", "step"}}), Soon()).ok());
  EXPECT_EQ(notes_.Next(), "0 step");
}

TEST_F(RankServerTest, EndsWithRanksThatAreConnectedAndRemovesItsSocket) {
  const auto rank = Join(0);
  const UniqueFd silent = DialRaw();
  server_.reset();
  EXPECT_THAT(notes_.Next(), HasSubstr("0 lost CANCELLED"));
  EXPECT_NE(::access(path_.c_str(), F_OK), 0);
}

TEST(RankServerListenTest, TakesOverASocketThatADeadAgentLeft) {
  const std::string path =
      absl::StrCat("/tmp/dynatrain-rank-server-old-", getpid(), ".sock");
  {
    UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address),
                     sizeof(address)),
              0);
  }
  EXPECT_TRUE(RankServer::Listen(path).ok());
}

TEST(RankServerListenTest, NamesAPathThatItCanNotHave) {
  const std::string nowhere = "/no/such/folder/ranks.sock";
  EXPECT_THAT(std::string(RankServer::Listen(nowhere).status().message()),
              HasSubstr(nowhere));
  const std::string endless = "/tmp/" + std::string(200, 'x');
  const absl::Status status = RankServer::Listen(endless).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("too long"));
}

}  // namespace
}  // namespace dynatrain::agent
