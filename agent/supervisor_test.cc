#include "agent/supervisor.h"

#include <gtest/gtest.h>

#include <optional>

#include "agent/agent_state.h"
#include "agent/exit_code.h"

namespace dynatrain::agent {
namespace {

constexpr std::optional<int> kNone;

TEST(ExitCodeTest, SaysHowThePodEnded) {
  EXPECT_EQ(ExitCode({0, 0}, kNone, std::nullopt), kExitDone);
  EXPECT_EQ(ExitCode({86, 86}, kNone, Ending{Ending::Kind::kLeft, ""}),
            kExitLeft);
  // Pushed on with SIGTERM, since they didn't go by themselves.
  EXPECT_EQ(ExitCode({86, 143}, kNone, Ending{Ending::Kind::kLeft, ""}),
            kExitLeft);
  EXPECT_EQ(ExitCode({143, 87}, kNone, Ending{Ending::Kind::kDismissed, ""}),
            kExitDismissed);
  EXPECT_EQ(ExitCode({143, 143}, kNone, Ending{Ending::Kind::kGraceOver, ""}),
            143);
}

TEST(ExitCodeTest, IsThatOfTheRankThatFailedFirst) {
  EXPECT_EQ(ExitCode({143, 1}, 1, Ending{Ending::Kind::kRankFailed, ""}), 1);
  EXPECT_EQ(ExitCode({137, 143}, 137, Ending{Ending::Kind::kRankFailed, ""}),
            137);
}

}  // namespace
}  // namespace dynatrain::agent
