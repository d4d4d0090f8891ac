#include "operator/agents/agent_link.h"

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/agents/scripted_agent.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;

agent::Observation Says(uint64_t version, uint64_t term = 0) {
  agent::Observation observation;
  observation.version = version;
  observation.job_uid = "u";
  observation.serial = 3;
  observation.term = term;
  return observation;
}

class AgentLinkTest : public ::testing::Test {
 protected:
  AgentLinkTest() : agent_(new ScriptedAgent) {
    agent_->Become(Says(1));
    link_ = std::make_unique<AgentLink>(
        AgentIdentity{"u", 3, "127.0.0.1:7070"},
        std::unique_ptr<agent::AgentApi>(agent_),
        AgentEvents{.on_change = [this] { Count(changes_); },
                    .on_failure = [this] { Count(failures_); }},
        AgentLinkOptions{.retry = absl::Milliseconds(1)});
  }
  ~AgentLinkTest() override { link_.reset(); }

  void Count(int& counter) {
    absl::MutexLock lock(&mutex_);
    ++counter;
  }
  bool WaitFor(int& counter, int value) {
    absl::MutexLock lock(&mutex_);
    const auto reached = [&] { return counter >= value; };
    return mutex_.AwaitWithTimeout(absl::Condition(&reached),
                                   absl::Seconds(10));
  }
  AgentCommand Command(const std::string& text) {
    return {text, text, [](agent::AgentApi& api, Deadline deadline) {
              return api.Go({}, deadline);
            }};
  }

  ScriptedAgent* agent_;
  absl::Mutex mutex_;
  int changes_ = 0;
  int failures_ = 0;
  std::unique_ptr<AgentLink> link_;
};

TEST_F(AgentLinkTest, TellsOfEachNewVersionAndKeepsTheLast) {
  ASSERT_TRUE(WaitFor(changes_, 1));
  EXPECT_EQ(link_->last()->observation.version, 1u);
  agent_->Become(Says(2, /*term=*/7));
  ASSERT_TRUE(WaitFor(changes_, 2));
  EXPECT_EQ(link_->last()->observation.term, 7u);
}

TEST_F(AgentLinkTest, AHeartbeatWithoutNewsOnlyMovesTheTime) {
  ASSERT_TRUE(WaitFor(changes_, 1));
  const absl::Time first = link_->last()->received;
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (link_->last()->received == first && absl::Now() < end) {
    std::this_thread::yield();
  }
  EXPECT_GT(link_->last()->received, first);
  absl::MutexLock lock(&mutex_);
  EXPECT_EQ(changes_, 1);
}

TEST_F(AgentLinkTest, AStrangerAtTheAddressIsNotListenedTo) {
  ASSERT_TRUE(WaitFor(changes_, 1));
  agent::Observation stranger = Says(5);
  stranger.job_uid = "another";
  agent_->Become(stranger);
  ASSERT_TRUE(WaitFor(changes_, 2));  // It has fallen silent.
  EXPECT_EQ(link_->last()->observation.job_uid, "u");
}

TEST_F(AgentLinkTest, SilenceIsToldOnce) {
  ASSERT_TRUE(WaitFor(changes_, 1));
  agent_->Fail(absl::UnavailableError("gone"), absl::OkStatus());
  ASSERT_TRUE(WaitFor(changes_, 2));
  agent_->Fail(absl::OkStatus(), absl::OkStatus());
  ASSERT_TRUE(WaitFor(changes_, 3));
  EXPECT_EQ(link_->last()->observation.version, 3u);
}

TEST_F(AgentLinkTest, ACommandWhoseEffectCanNotBeSeenYetIsNotRepeated) {
  agent_->Hold(true);
  for (int i = 0; i < 3; ++i) link_->Send(Command("go 4"));
  agent_->Hold(false);
  link_->Flush(absl::Seconds(10));
  EXPECT_THAT(agent_->said(), ElementsAre("Go"));
  // Wanted again meanwhile: told when an Observe that began later is answered.
  link_->Send(Command("go 4"));
  ASSERT_TRUE(WaitFor(changes_, 2));
  link_->Send(Command("go 4"));
  link_->Flush(absl::Seconds(10));
  EXPECT_THAT(agent_->said(), ElementsAre("Go", "Go"));
}

TEST_F(AgentLinkTest, AnotherCommandIsSentAtOnceAndInOrder) {
  agent_->Hold(true);
  link_->Send(Command("go 4"));
  link_->Send({.key = "cancel 4",
               .text = "cancel 4",
               .send = [](agent::AgentApi& api, Deadline deadline) {
                 return api.Cancel({}, deadline);
               }});
  link_->Send(Command("go 4"));
  agent_->Hold(false);
  link_->Flush(absl::Seconds(10));
  EXPECT_THAT(agent_->said(), ElementsAre("Go", "Cancel", "Go"));
}

TEST_F(AgentLinkTest, AFailedCommandIsTold) {
  agent_->Fail(absl::OkStatus(), absl::PermissionDeniedError("deposed"));
  link_->Send(Command("go"));
  EXPECT_TRUE(WaitFor(failures_, 1));
}

TEST_F(AgentLinkTest, EndsWhileACommandHangs) {
  agent_->Hold(true);
  link_->Send(Command("go"));
  link_.reset();  // Or the test's time-out.
}

}  // namespace
}  // namespace dynatrain::control
