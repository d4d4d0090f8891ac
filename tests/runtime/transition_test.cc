// Transitions of real processes through the C ABI, over both transports.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "api/rank/frame.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "tests/runtime/job_testutil.h"
#include "tests/runtime/random_job.h"
#include "transition/plan/agreement.h"

namespace dynatrain::runtime {
namespace {

using api::Frame;
using nlohmann::json;

constexpr int kProcesses = 6;

TestWorld Nowhere() { return {}; }

TestWorld Renumbered(TestWorld world, uint64_t generation) {
  world.generation = generation;
  return world;
}

TEST(TransitionTest, FiftyRandomPairsThereAndBack) {
  const int pairs = std::getenv("DYNATRAIN_LONG") != nullptr ? 400 : 50;
  std::mt19937_64 random = TestRandom(1);
  TestJob job(kProcesses);
  uint64_t generation = 0;
  for (int i = 0; i < pairs; ++i) {
    const std::string manifest = RandomManifest(random);
    const int ranks_per_pod = std::uniform_int_distribution<int>(1, 3)(random);
    const TestWorld a =
        RandomWorld(generation + 1, kProcesses, ranks_per_pod, random);
    const TestWorld b =
        RandomWorld(generation + 2, kProcesses, ranks_per_pod, random);
    const TestWorld c = Renumbered(a, generation + 3);
    SCOPED_TRACE(testing::Message()
                 << "pair " << i << ": " << a.layout << " -> " << b.layout
                 << ", " << ranks_per_pod << " ranks per pod\n"
                 << manifest);
    for (const auto& [source, target] :
         {std::pair{Nowhere(), a}, {a, b}, {b, c}}) {
      const auto ended = job.Run({source, target, manifest});
      ASSERT_TRUE(ended.ok()) << ended.status();
    }
    generation += 3;
    // The next pair is another job: these processes leave this one.
    const auto left = job.Run({c, Renumbered(a, generation + 1), manifest});
    ASSERT_TRUE(left.ok()) << left.status();
    ++generation;
  }
}

// The address sanitizer holds freed memory back for a while.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kMayGrowKib = 256 << 10;  // its quarantine
#else
constexpr int64_t kMayGrowKib = 4 << 10;
#endif

// Threads, descriptors and memory of process 0 after each of 50 transitions
// between two layouts in which it has a part.
TEST(TransitionTest, FiftyInARowLeaveThreadsDescriptorsAndMemoryFlat) {
  TestJob job(4);
  const std::string manifest = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[512,512],
     "splits":[{"axis":"tp","dim":0},{"axis":"dp","dim":1}]}]})";
  // Processes 0, 1 in pod 0; 2, 3 in pods of their own.
  const std::vector<Place> places = {{0, 0}, {1, 0}, {2, 1}, {3, 2}};
  TestWorld world = {1, "dp2,tp2", places};
  ASSERT_TRUE(job.Run({Nowhere(), world, manifest}).ok());
  std::vector<json> counts;
  for (int i = 0; i < 50; ++i) {
    const TestWorld next = {world.generation + 1,
                            i % 2 == 0 ? "dp4,tp1" : "dp2,tp2", places};
    const auto ended = job.Run({world, next, manifest});
    ASSERT_TRUE(ended.ok()) << ended.status();
    counts.push_back(ended->at(0).fields().at("times_ms"));
    world = next;
  }
  for (const char* what : {"threads", "fds"}) {
    EXPECT_EQ(counts[10].at(what), counts[49].at(what)) << what;
  }
  const int64_t grown = counts[49].at("rss_kib").get<int64_t>() -
                        counts[10].at("rss_kib").get<int64_t>();
  EXPECT_LT(grown, kMayGrowKib) << "KiB in 39 transitions";
}

TEST(TransitionTest, CancelBeforeGoKeepsThePreparationAndTheNextGoWorks) {
  TestJob job(2);
  const std::string manifest = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[64],
     "splits":[{"axis":"dp","dim":0}]}]})";
  const TestWorld a = {1, "dp1", {{0, 0}}};
  const TestJob::Order order = {a, {2, "dp2", {{0, 0}, {1, 1}}}, manifest};
  ASSERT_TRUE(job.Run({Nowhere(), a, manifest}).ok());
  job.Prepare(order);
  ASSERT_TRUE(job.AwaitPrepared(order).ok());
  ASSERT_TRUE(job.Arm(order).ok());
  ASSERT_TRUE(job.Await({0}, "stopped", 2).ok());
  job.Tell({0, 1}, "cancel", 2);
  EXPECT_EQ(job.AwaitKept(0, 2).value().at("check"), "");
  ASSERT_TRUE(job.Arm(order).ok());
  job.Tell({0, 1}, "go", 2);
  ASSERT_TRUE(job.Await({0, 1}, "verified", 2).ok());
  job.Tell({0, 1}, "commit", 2);
  const auto resumed = job.Await({0, 1}, "resumed", 2);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  for (const auto& [process, frame] : *resumed) {
    EXPECT_EQ(frame.Text("check").value(), "");
  }
}

// Who is told of another target has nothing to move, so it is prepared while
// the other one waits for its link. What they say first shows it.
TEST(TransitionTest, ARankWithAnotherInputIsFoundBeforeLinksAndTrainingGoesOn) {
  TestJob job(2);
  const std::string manifest = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[64,64],
     "splits":[{"axis":"dp","dim":0},{"axis":"tp","dim":1}]}]})";
  const std::vector<Place> places = {{0, 0}, {1, 1}};
  const TestWorld a = {1, "dp2", places};
  ASSERT_TRUE(job.Run({Nowhere(), a, manifest}).ok());
  job.Prepare({a, {2, "dp1,tp2", places}, manifest}, {0});
  job.Prepare({a, {2, "dp2", places}, manifest}, {1});
  const auto planned = job.Await({0, 1}, "planned", 2);
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(transition::AgreementDifference(
                planned->at(0).Text("plan_digest").value(),
                planned->at(1).Text("plan_digest").value()),
            "target layout");
  job.Tell({0, 1}, "abort", 2);
  const Deadline soon = Deadline::After(std::chrono::seconds(20));
  for (const int process : {0, 1}) {
    const auto step = job.agent().StepAfter(process, 0, soon);
    ASSERT_TRUE(step.ok()) << step.status();
    const auto later =
        job.agent().StepAfter(process, step->Uint("step").value() + 5, soon);
    ASSERT_TRUE(later.ok()) << later.status();
    EXPECT_EQ(later->Uint("g").value(), 1);
  }
  const auto next = job.Run({a, {3, "dp1,tp2", places}, manifest});
  EXPECT_TRUE(next.ok()) << next.status();
}

TEST(TransitionTest, AStepThatIsOverCantBeArmed) {
  TestJob job(1);
  const std::string manifest = R"({"version":1,"tensors":[]})";
  const TestWorld a = {1, "dp1", {{0, 0}}};
  ASSERT_TRUE(job.Run({Nowhere(), a, manifest}).ok());
  const TestJob::Order order = {a, {2, "dp1", {{0, 0}}}, manifest};
  job.Prepare(order);
  ASSERT_TRUE(job.AwaitPrepared(order).ok());
  const Deadline soon = Deadline::After(std::chrono::seconds(20));
  ASSERT_TRUE(job.agent().StepAfter(0, 10, soon).ok());
  ASSERT_TRUE(
      job.agent().Send(0, {{"kind", "arm"}, {"g", 2}, {"step", 5}}).ok());
  const Frame answer = job.Await({0}, "armed", 2).value().at(0);
  EXPECT_FALSE(answer.Bool("ok").value());
  EXPECT_GE(answer.Uint("seen").value(), 10);
}

}  // namespace
}  // namespace dynatrain::runtime
