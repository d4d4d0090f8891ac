#include "operator/driver/fail_points.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

TEST(FailPointsTest, RefusesWhatItDoesNotKnow) {
  for (const char* bad : {"", "=kill", "a", "a=", "a=explode", "a=kill2"}) {
    EXPECT_EQ(FailPoints::Create({bad}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

TEST(FailPointsTest, NothingHappensWhereNoneIsSet) {
  const auto points = FailPoints::Create({"a=kill"});
  EXPECT_TRUE(points->IsSet("a"));
  EXPECT_FALSE(points->IsSet("b"));
  points->Hit("b");
  FailPoints().Hit("a");
}

TEST(FailPointsTest, KillIsSigkill) {
  const auto points = FailPoints::Create({"a=kill"});
  EXPECT_EXIT(points->Hit("a"), ::testing::KilledBySignal(SIGKILL), "");
}

TEST(FailPointsTest, OnceIsOnceAcrossProcesses) {
  const std::string file = ::testing::TempDir() + "/once";
  std::filesystem::remove(file);
  const auto points = FailPoints::Create({"a=kill@" + file});
  EXPECT_EXIT(points->Hit("a"), ::testing::KilledBySignal(SIGKILL), "");
  points->Hit("a");  // Lives on.
}

TEST(FailPointsTest, StopIsSigstopAndItGoesOn) {
  const auto points = FailPoints::Create({"a=stop"});
  const pid_t child = fork();
  if (child == 0) {
    points->Hit("a");
    _exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_TRUE(WIFSTOPPED(status));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace dynatrain::control
