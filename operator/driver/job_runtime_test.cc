#include "operator/driver/job_runtime.h"

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/agents/scripted_agent.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PodView Pod(uint32_t serial, const std::string& ip) {
  PodView pod;
  pod.name = "gpt-" + std::to_string(serial);
  pod.serial = serial;
  pod.ip = ip;
  pod.started = absl::UnixEpoch();
  return pod;
}

agent::Observation Says(uint32_t serial, const std::string& digest) {
  agent::Observation observation;
  observation.version = 1;
  observation.job_uid = "uid";
  observation.serial = serial;
  observation.manifest_digest = digest;
  return observation;
}

class JobRuntimeTest : public ::testing::Test {
 protected:
  JobRuntimeTest()
      : runtime_("uid", "key", 7070,
                 [this](const std::string& address, const std::string& key)
                     -> absl::StatusOr<std::unique_ptr<agent::AgentApi>> {
                   connected_.push_back(address + " " + key);
                   auto agent = std::make_unique<ScriptedAgent>();
                   agents_.push_back(agent.get());
                   return agent;
                 },
                 {.on_change = [this] { Count(); }, .on_failure = [] {}}) {}

  void Count() {
    absl::MutexLock lock(&mutex_);
    ++changes_;
  }
  bool WaitForChanges(int count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&] { return changes_ >= count; };
    return mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(10));
  }

  absl::Mutex mutex_;
  int changes_ = 0;
  std::vector<std::string> connected_;
  std::vector<ScriptedAgent*> agents_;
  JobRuntime runtime_;
};

TEST_F(JobRuntimeTest, ConnectsOnceToPodsThatRun) {
  PodView waiting = Pod(1, "10.0.0.2");
  waiting.started.reset();
  PodView ended = Pod(2, "10.0.0.3");
  ended.exit_code = 0;
  const std::vector<PodView> pods = {Pod(0, "10.0.0.1"), waiting, ended,
                                     Pod(3, ""), Pod(4, "fd00::4")};
  runtime_.Connect(pods);
  runtime_.Connect(pods);
  EXPECT_THAT(connected_,
              ElementsAre("10.0.0.1:7070 key", "[fd00::4]:7070 key"));
  EXPECT_NE(runtime_.Link(0, "10.0.0.1:7070"), nullptr);
  EXPECT_EQ(runtime_.Link(0, "10.0.0.9:7070"), nullptr);
  EXPECT_EQ(runtime_.Link(1, "10.0.0.2:7070"), nullptr);
}

TEST_F(JobRuntimeTest, DropsTheLinkOfAPodThatEndedOrMoved) {
  runtime_.Connect({Pod(0, "10.0.0.1"), Pod(1, "10.0.0.2")});
  runtime_.Connect({Pod(0, "10.0.0.7")});
  EXPECT_THAT(connected_, SizeIs(3));
  EXPECT_EQ(runtime_.Link(1, "10.0.0.2:7070"), nullptr);
  EXPECT_NE(runtime_.Link(0, "10.0.0.7:7070"), nullptr);
}

TEST_F(JobRuntimeTest, ObservesWhatTheAgentsSaid) {
  runtime_.Connect({Pod(3, "10.0.0.1")});
  EXPECT_THAT(runtime_.Observations(), IsEmpty());
  agents_[0]->Become(Says(3, "d"));
  ASSERT_TRUE(WaitForChanges(1));
  ASSERT_THAT(runtime_.Observations(), SizeIs(1));
  EXPECT_EQ(runtime_.Observations().at(3).observation.manifest_digest, "d");
}

TEST_F(JobRuntimeTest, FetchesAManifestOnceFromOneThatHasIt) {
  EXPECT_EQ(runtime_.Manifest("").value(), "");
  runtime_.Connect({Pod(0, "10.0.0.1"), Pod(1, "10.0.0.2")});
  EXPECT_TRUE(absl::IsUnavailable(runtime_.Manifest("d").status()));
  agents_[0]->Become(Says(0, "other"));
  agents_[1]->Become(Says(1, "d"));
  agents_[1]->Give({.generation = 2, .json = "{}", .digest = "d"});
  ASSERT_TRUE(WaitForChanges(2));
  EXPECT_EQ(runtime_.Manifest("d").value(), "{}");
  agents_[1]->Give({});
  EXPECT_EQ(runtime_.Manifest("d").value(), "{}");
}

TEST_F(JobRuntimeTest, AManifestWithAnotherDigestIsRefused) {
  runtime_.Connect({Pod(0, "10.0.0.1")});
  agents_[0]->Become(Says(0, "d"));
  agents_[0]->Give({.generation = 2, .json = "{}", .digest = "e"});
  ASSERT_TRUE(WaitForChanges(1));
  EXPECT_THAT(std::string(runtime_.Manifest("d").status().message()),
              HasSubstr("it gave e"));
}

}  // namespace
}  // namespace dynatrain::control
