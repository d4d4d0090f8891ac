#include "agent/log_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace dynatrain::agent {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  void Say(const std::string& text) const {
    EXPECT_EQ(::write(write.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  UniqueFd read, write;
};

// Reads until the other side has closed.
std::string All(const UniqueFd& from) {
  std::string all;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = ::read(from.get(), buffer, sizeof(buffer))) > 0) {
    all.append(buffer, n);
  }
  return all;
}

std::string Line(const UniqueFd& from) {
  std::string line;
  char c = 0;
  while (c != '\n' && ::read(from.get(), &c, 1) == 1) line += c;
  return line;
}

class LogRelayTest : public ::testing::Test {
 protected:
  // One stream for each of `ranks`, all to one log.
  void Start() {
    std::vector<LogRelay::Stream> streams;
    for (int i = 0; i < 2; ++i) {
      streams.push_back({std::move(ranks_[i].read), log_.write.get(),
                         LinePrefixer("[" + std::to_string(i) + "] "),
                         /*open=*/true});
    }
    relay_ = *LogRelay::Start(std::move(streams));
  }
  // The log is over: what is in it.
  std::string Rest() {
    log_.write = UniqueFd();
    return All(log_.read);
  }

  Pipe ranks_[2];
  Pipe log_;
  std::unique_ptr<LogRelay> relay_;
};

TEST_F(LogRelayTest, EachLineComesAtOnceWithItsRank) {
  Start();
  ranks_[1].Say("hello\n");
  EXPECT_EQ(Line(log_.read), "[1] hello\n");
  ranks_[0].Say("he");
  ranks_[1].Say("you\n");
  EXPECT_EQ(Line(log_.read), "[1] you\n");
  ranks_[0].Say("llo\n");
  EXPECT_EQ(Line(log_.read), "[0] hello\n");
}

TEST_F(LogRelayTest, FinishWritesAllThatWasSaidAlsoALineWithoutItsEnd) {
  Start();
  ranks_[0].Say("one\ntwo");
  ranks_[0].write = UniqueFd();
  ranks_[1].write = UniqueFd();
  relay_->Finish(std::chrono::seconds(20));
  EXPECT_EQ(Rest(), "[0] one\n[0] two\n");
}

TEST_F(LogRelayTest, AGrandchildThatHoldsAStreamOpenIsNotWaitedForForEver) {
  Start();
  ranks_[0].Say("last words");
  ranks_[1].write = UniqueFd();
  relay_->Finish(std::chrono::milliseconds(50));
  EXPECT_EQ(Rest(), "[0] last words\n");
}

TEST_F(LogRelayTest, AStreamThatEndsLeavesTheOtherAlone) {
  Start();
  ranks_[0].write = UniqueFd();
  ranks_[1].Say("still here\n");
  EXPECT_EQ(Line(log_.read), "[1] still here\n");
}

TEST_F(LogRelayTest, BytesThatAreNoTextPassAsTheyAre) {
  Start();
  ranks_[0].Say(std::string("\0\xFF\x80\n", 4));
  EXPECT_EQ(Line(log_.read), "[0] " + std::string("\0\xFF\x80\n", 4));
}

}  // namespace
}  // namespace dynatrain::agent
