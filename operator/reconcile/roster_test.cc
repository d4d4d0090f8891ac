#include "operator/reconcile/roster.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

// One running pod, serial 0, with one rank that is ready.
Snapshot OnePod() {
  Snapshot snapshot;
  snapshot.now = kNow;
  snapshot.job.metadata.name = "gpt";
  PodView pod;
  pod.name = "gpt-0";
  pod.phase = PodPhase::kRunning;
  pod.ip = "10.0.0.1";
  snapshot.pods = {pod};
  AgentSeen seen;
  seen.received = kNow;
  agent::RankObservation rank;
  rank.process_id = 7;
  rank.state = agent::RankState::kReady;
  seen.observation.ranks = {rank};
  snapshot.agents[0] = seen;
  return snapshot;
}

RosterEntry Only(const Snapshot& snapshot) { return Roster(snapshot, 1).At(0); }

TEST(RosterTest, NamesPodsWhereOthersSayTheirSerials) {
  Snapshot snapshot;
  snapshot.job.metadata.name = "gpt";
  const Roster roster(snapshot, 1);
  EXPECT_EQ(roster.WithNames("serial 2 is gone"), "gpt-2 is gone");
  EXPECT_EQ(roster.WithNames("serial 10: rank 1 (serial 3): no, serial x"),
            "gpt-10: rank 1 (gpt-3): no, serial x");
  EXPECT_EQ(roster.WithNames(""), "");
}

TEST(RosterTest, AHealthyPodIsReadyAndLive) {
  const Snapshot snapshot = OnePod();
  const RosterEntry entry = Only(snapshot);
  EXPECT_TRUE(entry.ready);
  EXPECT_TRUE(entry.live());
  EXPECT_FALSE(entry.finished);
}

TEST(RosterTest, ReadyNeedsAllRanks) {
  Snapshot snapshot = OnePod();
  EXPECT_FALSE(Roster(snapshot, 2).At(0).ready);
  snapshot.agents[0].observation.ranks[0].process_id = 0;
  EXPECT_FALSE(Only(snapshot).ready);
  snapshot = OnePod();
  snapshot.agents[0].observation.ranks[0].state = agent::RankState::kExited;
  EXPECT_FALSE(Only(snapshot).ready);
}

TEST(RosterTest, AnAgentNotHeardForLongIsSilentButNotGone) {
  Snapshot snapshot = OnePod();
  snapshot.now = kNow + kSilentAfter + absl::Seconds(1);
  const RosterEntry entry = Only(snapshot);
  EXPECT_FALSE(entry.answering);
  EXPECT_FALSE(entry.gone);
}

TEST(RosterTest, APodWithoutAnObjectIsGone) {
  const Snapshot snapshot = OnePod();
  EXPECT_TRUE(Roster(snapshot, 1).At(5).gone);
}

TEST(RosterTest, DeletionAndLeavingDoomWithTheEarlierDeadline) {
  Snapshot snapshot = OnePod();
  snapshot.pods[0].deletion_time = kNow + absl::Seconds(120);
  RosterEntry entry = Only(snapshot);
  EXPECT_TRUE(entry.doomed);
  EXPECT_EQ(entry.deadline, kNow + absl::Seconds(120));
  snapshot.agents[0].observation.leaving = true;
  snapshot.agents[0].observation.leave_deadline = std::chrono::seconds(20);
  EXPECT_EQ(Only(snapshot).deadline, kNow + absl::Seconds(20));
}

TEST(RosterTest, ADisruptionThatBringsNoDeletionIsForgotten) {
  Snapshot snapshot = OnePod();
  snapshot.pods[0].disruption = "PreemptionByScheduler";
  snapshot.pods[0].disruption_time = kNow - absl::Seconds(10);
  EXPECT_TRUE(Only(snapshot).doomed);
  snapshot.pods[0].disruption_time = kNow - absl::Seconds(100);
  EXPECT_FALSE(Only(snapshot).doomed);
}

TEST(RosterTest, APodTerminatingForEverOnADeadNodeIsGone) {
  Snapshot snapshot = OnePod();
  snapshot.pods[0].deletion_time = kNow + absl::Seconds(5);
  snapshot.now = kNow + absl::Seconds(30);
  EXPECT_FALSE(Only(snapshot).gone);
  snapshot.now = kNow + absl::Seconds(60);
  EXPECT_TRUE(Only(snapshot).gone);
  // As long as it speaks it is there.
  snapshot.agents[0].received = snapshot.now;
  EXPECT_FALSE(Only(snapshot).gone);
}

TEST(RosterTest, PodsOfAnEarlierStartAreStale) {
  Snapshot snapshot = OnePod();
  snapshot.job.status.first_serial = 1;
  const Roster roster(snapshot, 1);
  EXPECT_TRUE(roster.entries().empty());
  ASSERT_EQ(roster.stale().size(), 1);
  EXPECT_EQ(roster.Targets({0}).size(), 1);
}

TEST(RosterTest, AddressesOfBothFamilies) {
  Snapshot snapshot = OnePod();
  EXPECT_EQ(Roster(snapshot, 1).Targets({0})[0].address, "10.0.0.1:7070");
  snapshot.pods[0].ip = "fd00::1";
  EXPECT_EQ(Roster(snapshot, 1).Targets({0})[0].address, "[fd00::1]:7070");
  snapshot.pods[0].ip = "";
  EXPECT_TRUE(Roster(snapshot, 1).Targets({0}).empty());
}

TEST(RosterTest, ExitWithZeroIsTheEndOfTheData) {
  Snapshot snapshot = OnePod();
  snapshot.pods[0].exit_code = 0;
  snapshot.pods[0].phase = PodPhase::kSucceeded;
  EXPECT_TRUE(Only(snapshot).finished);
  EXPECT_TRUE(Only(snapshot).gone);
  snapshot.pods[0].exit_code = 1;
  snapshot.pods[0].phase = PodPhase::kFailed;
  EXPECT_FALSE(Only(snapshot).finished);
}

}  // namespace
}  // namespace dynatrain::control
