// What goes wrong in real processes: each time the reason names who, and the
// old world is byte-equal and trains on.
#include <signal.h>

#include <chrono>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/job_testutil.h"

namespace dynatrain::runtime {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Larger than all staging memory, so that nobody is done before its peers are.
constexpr char kManifest[] = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[3000,1000],
     "splits":[{"axis":"dp","dim":0},{"axis":"tp","dim":1}]}]})";

// `in_one_pod`: all links are shared memory; else all are TCP.
class FaultTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(job_.Run({{}, World(1, "dp3"), kManifest}).ok());
    order_ = {World(1, "dp3"), World(2, "dp1,tp3"), kManifest};
  }

  static TestWorld World(uint64_t generation, const std::string& layout) {
    TestWorld world = {generation, layout, {}};
    for (uint32_t i = 0; i < 3; ++i) {
      world.places.push_back({static_cast<int>(i), GetParam() ? 0 : i});
    }
    return world;
  }

  std::string NameOf(int rank) const {
    return GetParam() ? "rank " + std::to_string(rank) + " (serial 0)"
                      : "rank " + std::to_string(rank) + " (serial " +
                            std::to_string(rank) + ")";
  }

  // Up to the moment when ranks 0 and 1 move and rank 2 waits for its Go.
  void StopMidway() {
    job_.Prepare(order_);
    ASSERT_TRUE(job_.AwaitPrepared(order_).ok());
    ASSERT_TRUE(job_.Arm(order_).ok());
    ASSERT_TRUE(job_.Await({0, 1, 2}, "stopped", 2).ok());
    job_.Tell({0, 1}, "go", 2);
  }

  std::string FailureOf(int process) {
    return job_.agent()
        .Expect(process, "failed", 2, Deadline::After(std::chrono::seconds(30)))
        .value()
        .Text("reason")
        .value();
  }

  // After an abort, the same transition under the next number.
  void ExpectTheNextOneWorks() {
    TestJob::Order again = order_;
    again.target.generation = 3;
    const auto ended = job_.Run(again);
    EXPECT_TRUE(ended.ok()) << ended.status();
  }

  TestJob job_{3};
  TestJob::Order order_;
};

TEST_P(FaultTest, APeerThatIsKilledMidwayIsNamedByTheOthers) {
  ASSERT_NO_FATAL_FAILURE(StopMidway());
  job_.Kill(2);
  for (int process : {0, 1}) {
    EXPECT_THAT(FailureOf(process), HasSubstr(NameOf(2)));
  }
  job_.Tell({0, 1}, "abort", 2);
  for (int process : {0, 1}) {
    const json kept = job_.AwaitKept(process, 2).value();
    EXPECT_EQ(kept.at("check"), "");
    EXPECT_THAT(kept.at("failure").get<std::string>(), HasSubstr(NameOf(2)));
  }
}

TEST_P(FaultTest, AnAbortMidwayKeepsTheOldWorldOnAll) {
  ASSERT_NO_FATAL_FAILURE(StopMidway());
  job_.Tell({0, 1, 2}, "abort", 2);
  for (int process : {0, 1, 2}) {
    const json kept = job_.AwaitKept(process, 2).value();
    EXPECT_EQ(kept.at("check"), "");
    EXPECT_EQ(kept.at("failure"), "");
  }
  ExpectTheNextOneWorks();
}

TEST_P(FaultTest, AnAbortInDoubtKeepsTheOldWorldOnAll) {
  ASSERT_NO_FATAL_FAILURE(StopMidway());
  job_.Tell({2}, "go", 2);
  ASSERT_TRUE(job_.Await({0, 1, 2}, "verified", 2).ok());
  job_.Tell({0, 1, 2}, "cancel", 2);  // comes too late for anything
  job_.Tell({0, 1, 2}, "abort", 2);
  for (int process : {0, 1, 2}) {
    EXPECT_EQ(job_.AwaitKept(process, 2).value().at("check"), "");
  }
  ExpectTheNextOneWorks();
}

TEST_P(FaultTest, AStalledPeerIsNamedWhenTheDeadlinePasses) {
  order_.transfer_deadline_ms = 500;
  ASSERT_NO_FATAL_FAILURE(StopMidway());
  EXPECT_THAT(FailureOf(0), HasSubstr(NameOf(2)));
  EXPECT_THAT(FailureOf(2), HasSubstr("go of generation 2"));
  job_.Tell({0, 1, 2}, "abort", 2);
  for (int process : {0, 1, 2}) {
    EXPECT_EQ(job_.AwaitKept(process, 2).value().at("check"), "");
  }
  order_.transfer_deadline_ms = 60'000;
  ExpectTheNextOneWorks();
}

TEST_P(FaultTest, WithoutItsAgentNobodyStaysInDoubtForEver) {
  ASSERT_NO_FATAL_FAILURE(StopMidway());
  job_.Tell({2}, "go", 2);
  ASSERT_TRUE(job_.Await({0, 1, 2}, "verified", 2).ok());
  job_.agent().HangUp(1);
  EXPECT_EQ(job_.WaitForExit(1), 3);  // DT_LOST
}

INSTANTIATE_TEST_SUITE_P(Each, FaultTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "SharedMemory" : "Tcp";
                         });

TEST(JobKeyTest, AProcessWithAnotherKeyGetsNoLinkAndItIsSaidWhy) {
  TestJob job(2, {{1, "ffeeddccbbaa99887766554433221100"}});
  const TestWorld a = {1, "dp1", {{0, 0}}};
  ASSERT_TRUE(job.Run({{}, a, kManifest}).ok());
  const TestJob::Order order = {a, {2, "dp2", {{0, 0}, {1, 1}}}, kManifest};
  job.Prepare(order);
  // Whoever dials has to notice; the other one waits until it is told.
  const int dialer = job.process_id(0) < job.process_id(1) ? 0 : 1;
  const auto failed = job.agent().Expect(
      dialer, "failed", 2, Deadline::After(std::chrono::seconds(30)));
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_THAT(failed->Text("reason").value(), HasSubstr("key"));
  job.Tell({0, 1}, "abort", 2);
  EXPECT_TRUE(job.agent()
                  .StepAfter(0, 10, Deadline::After(std::chrono::seconds(20)))
                  .ok());
}

}  // namespace
}  // namespace dynatrain::runtime
