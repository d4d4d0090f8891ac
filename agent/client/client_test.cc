#include "agent/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "absl/status/status.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(AgentClientTest, RefusesWhatIsNoAddress) {
  for (const char* address :
       {"", "agent:7070", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:65536",
        "10.0.0:7070", "fd00::7:7070", "[fd00::7]", "[x]:1"}) {
    EXPECT_EQ(NewAgentClient(address, "k").status().code(),
              absl::StatusCode::kInvalidArgument)
        << address;
  }
  EXPECT_TRUE(NewAgentClient("[fd00::7]:7070", "k").ok());
}

TEST(AgentClientTest, SaysWhatAndWhomItDidNotReach) {
  auto agent = NewAgentClient("127.0.0.1:1", "k");
  const absl::Status status =
      (*agent)->Greet({}, Deadline::After(milliseconds(5000)));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("Greet at 127.0.0.1:1: "));
}

TEST(AgentClientTest, CancelledCallsStayCancelled) {
  auto agent = NewAgentClient("127.0.0.1:1", "k");
  (*agent)->CancelCalls();
  EXPECT_EQ((*agent)->GetManifest(Deadline::Never()).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace dynatrain::agent
