// The agent as the first process of a container, with plain programs as ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/client/client.h"
#include "tests/agent/agent_process.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

AgentProcess::Options Shell(const std::string& script, int ranks = 2) {
  return {.ranks = ranks, .command = {"sh", "-c", script}};
}

TEST(LifecycleTest, EachLineHasItsRankAndNoneIsLost) {
  AgentProcess agent(
      Shell("i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done;"
            "head -c 300000 /dev/zero | tr '\\0' x; echo; printf 'last'; "
            "echo to stderr >&2"));
  EXPECT_EQ(agent.AwaitExit(), 0);
  const std::string output = agent.Output();
  for (int rank : {0, 1}) {
    for (int line : {0, 250, 499}) {
      EXPECT_THAT(output,
                  HasSubstr(absl::StrCat("[", rank, "] line ", line, "\n")));
    }
    EXPECT_THAT(output, HasSubstr(absl::StrCat(
                            "[", rank, "] ", std::string(300000, 'x'), "\n")));
    EXPECT_THAT(output, HasSubstr(absl::StrCat("[", rank, "] last\n")));
    EXPECT_THAT(output, HasSubstr(absl::StrCat("[", rank, "] to stderr\n")));
  }
}

TEST(LifecycleTest, RanksKnowWhoTheyAre) {
  AgentProcess agent(
      Shell("echo rank $DYNATRAIN_LOCAL_RANK of serial $DYNATRAIN_SERIAL; "
            "echo threads $OMP_NUM_THREADS path $PYTHONPATH"));
  EXPECT_EQ(agent.AwaitExit(), 0);
  EXPECT_THAT(agent.Output(), HasSubstr("[1] rank 1 of serial 0\n"));
  EXPECT_THAT(agent.Output(), HasSubstr("threads 1 path /"));
}

TEST(LifecycleTest, TheExitCodeIsThatOfTheFirstToFailAndTheOthersEnd) {
  AgentProcess agent(
      Shell("[ $DYNATRAIN_LOCAL_RANK = 1 ] && exit 7; exec sleep 1000"));
  EXPECT_EQ(agent.AwaitExit(), 7);
  EXPECT_THAT(agent.Output(), HasSubstr("local rank 1 exited with code 7"));
}

TEST(LifecycleTest, ARankThatIgnoresSigtermIsKilled) {
  AgentProcess agent(
      Shell("[ $DYNATRAIN_LOCAL_RANK = 1 ] && { read x < /dev/null; exit 3; }; "
            "trap '' TERM; while :; do sleep 1000; done"));
  EXPECT_EQ(agent.AwaitExit(), 3);
}

TEST(LifecycleTest, OtherSignalsReachTheRanks) {
  AgentProcess agent(
      Shell("trap 'echo got it; exit 0' USR1; echo ready; "
            "while :; do sleep 0.05; done"));
  agent.AwaitLine("[0] ready");
  agent.AwaitLine("[1] ready");
  agent.Signal(SIGUSR1);
  EXPECT_EQ(agent.AwaitExit(), 0);
  EXPECT_THAT(agent.Output(), HasSubstr("[0] got it\n"));
  EXPECT_THAT(agent.Output(), HasSubstr("[1] got it\n"));
}

TEST(LifecycleTest, OrphansAreReapedAndDoNotHoldTheEndUp) {
  // The grandchild keeps the rank's output open, in a session of its own.
  AgentProcess agent(
      Shell("f=$(mktemp -u) && mkfifo $f && "
            "{ setsid sh -c \"echo \\$\\$ > $f; exec sleep 1000\" & } && "
            "read pid < $f && rm $f && echo orphan $pid",
            1));
  EXPECT_EQ(agent.AwaitExit(), 0);
  const std::string output = agent.Output();
  const size_t at = output.find("orphan ") + 7;
  const pid_t orphan = std::stoi(output.substr(at));
  EXPECT_EQ(::kill(-orphan, SIGKILL), 0) << "it was to be outside the group";
}

TEST(LifecycleTest, ACommandThatIsNotThereIsNamed) {
  AgentProcess agent({.ranks = 2, .command = {"no-such-program"}});
  EXPECT_EQ(agent.AwaitExit(), 126);
  EXPECT_THAT(
      agent.Output(),
      HasSubstr("starting the command 'no-such-program': No such file"));
}

TEST(LifecycleTest, TheHeartbeatDoesNotDependOnTheRanks) {
  AgentProcess agent({.ranks = 2});
  const Observation seen = agent.AwaitHello();
  for (const RankObservation& rank : seen.ranks) {
    ::kill(static_cast<pid_t>(rank.os_pid), SIGSTOP);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(agent.api()
                    .Observe(0, milliseconds(0), Deadline::After(kPatience))
                    .ok());
  }
  for (const RankObservation& rank : seen.ranks) {
    ::kill(static_cast<pid_t>(rank.os_pid), SIGCONT);
  }
  EXPECT_GT(seen.memory_used_bytes, 0);
}

}  // namespace
}  // namespace dynatrain::agent
