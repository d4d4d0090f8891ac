#include "tools/simulate/simulation.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/simulate/checkpoint_strategy.h"
#include "vps/model/families.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kInit = 60 * kSecond;
constexpr int64_t kDetect = 30 * kSecond;
constexpr int64_t kMove = 3 * kSecond;    // of FakeStrategy
constexpr int64_t kSwitch = 4 * kSecond;  // with drain and commit

// Needs the old nodes for all of its three seconds.
class FakeStrategy : public Strategy {
 public:
  absl::string_view name() const override { return "fake"; }
  absl::string_view source() const override { return "none"; }
  absl::StatusOr<Movement> Plan(const SwitchCase&) const override {
    return Movement{{{.name = "move",
                      .resource = Resource::kDevice,
                      .busiest_bytes = kMove}}};
  }
};

// 4 nodes of 2 ranks.
ClusterModel Cluster() {
  return *ClusterModel::Create({.num_nodes = 4,
                                .ranks_per_node = 2,
                                .nics_per_node = 2,
                                .inside_bytes_per_second = 1'000'000'000,
                                .nic_bytes_per_second = 1'000'000'000});
}

JobModel Tiny() {
  vps::ModelNumbers numbers = vps::FamilyFeatures(vps::Family::kLlama);
  numbers.hidden = 8;
  numbers.layers = 2;
  numbers.heads = 2;
  numbers.ffn = 12;
  numbers.vocabulary = 128;
  return {"tiny", *vps::ModelConfig::Create(numbers),
          *vps::StateList::Preset("bf16-mixed")};
}

// A step of 8 sequences takes seconds on so slow ranks.
StepFigures Slow() {
  StepFigures figures;
  figures.batch_tokens = 32'768;
  figures.flops_per_second = 1e8;
  figures.data_overlap = 1;
  return figures;
}

SimulationOptions Options() {
  SimulationOptions options;
  options.site.pause.drain_ns = kSecond / 2;
  options.site.pause.commit_ns = kSecond / 2;
  options.site.pause.copy_bytes_per_second = kSecond;  // a byte per ns
  options.init_ns = kInit;
  options.detect_ns = kDetect;
  options.checkpoint_interval_ns = 600 * kSecond;
  return options;
}

Sizer MakeSizer() {
  return *Sizer::Create(Tiny(), {{.tp = 2}}, Cluster(), Slow(), 0);
}

RunResult RunRows(const std::string& rows,
                  const SimulationOptions& options = Options(),
                  const Strategy& strategy = FakeStrategy()) {
  Sizer sizer = MakeSizer();
  JobCache jobs(Tiny(), Cluster());
  const Trace trace =
      *Trace::Parse(absl::StrCat("time_s,event,nodes,notice_s\n", rows), 4);
  const auto result =
      Simulate(trace, sizer, jobs, strategy, options, [](int, int) {});
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

int64_t StepNs(int nodes) { return MakeSizer().Best(nodes)->step_ns; }

TEST(SimulationTest, AStepTakesSecondsHere) {
  EXPECT_GT(StepNs(4), kSecond);
  EXPECT_GT(StepNs(2), StepNs(4));
}

TEST(SimulationTest, StartsWithInitAndCountsWholeSteps) {
  const RunResult result = RunRows("0,+,2,\n");
  ASSERT_EQ(result.changes.size(), 1);
  const Change& start = result.changes[0];
  EXPECT_EQ(start.kind, ChangeKind::kStart);
  EXPECT_EQ(start.pause_ns, kInit + kSecond);
  EXPECT_EQ(start.to, "tp2,pp1,dp2");
  EXPECT_EQ(result.end_ns, 3600 * kSecond);
  EXPECT_EQ(result.steps, (result.end_ns - start.end_ns()) / StepNs(2));
  EXPECT_EQ(result.lost_steps, 0);
  EXPECT_EQ(result.paused_ns, kInit + kSecond);
}

TEST(SimulationTest, ASwitchHidesInitAndBeginsAtABoundary) {
  const RunResult result = RunRows("0,+,2,\n1000,+,2,\n");
  ASSERT_EQ(result.changes.size(), 2);
  const Change& change = result.changes[1];
  EXPECT_EQ(change.kind, ChangeKind::kSwitch);
  EXPECT_EQ(change.event_ns, 1000 * kSecond);
  EXPECT_EQ(change.from, "tp2,pp1,dp2");
  EXPECT_EQ(change.to, "tp2,pp1,dp4");
  EXPECT_EQ(change.pause_ns, kSwitch);
  EXPECT_EQ(change.waited_ns, 0);
  const int64_t started = result.changes[0].end_ns();
  EXPECT_EQ((change.begin_ns - started) % StepNs(2), 0);
  EXPECT_GE(change.begin_ns, 1000 * kSecond + kInit);
  EXPECT_LT(change.begin_ns - StepNs(2), 1000 * kSecond + kInit);
  EXPECT_EQ(result.steps, (change.begin_ns - started) / StepNs(2) +
                              (result.end_ns - change.end_ns()) / StepNs(4));
}

TEST(SimulationTest, WithoutOverlapInitIsAPause) {
  SimulationOptions options = Options();
  options.overlap = false;
  const RunResult result = RunRows("0,+,2,\n1000,+,2,\n", options);
  ASSERT_EQ(result.changes.size(), 2);
  EXPECT_EQ(result.changes[1].pause_ns, kInit + kSwitch);
  EXPECT_EQ(result.changes[1].waited_ns, kInit);
}

TEST(SimulationTest, WhoGivesNoticeLosesNothing) {
  const RunResult result = RunRows("0,+,4,\n1000,-,2,120\n");
  ASSERT_EQ(result.changes.size(), 2);
  const Change& change = result.changes[1];
  EXPECT_EQ(change.kind, ChangeKind::kSwitch);
  EXPECT_EQ(change.lost_steps, 0);
  EXPECT_LE(change.end_ns(), 1120 * kSecond);
  EXPECT_EQ(change.nodes_before, 4);
  EXPECT_EQ(change.nodes_after, 2);
}

// Init and switch just fit into the notice, but no boundary is there any more:
// training stops before, and waits.
TEST(SimulationTest, AShortNoticeStopsTrainingEarlier) {
  const RunResult result = RunRows("0,+,4,\n1000,-,2,63.6\n");
  ASSERT_EQ(result.changes.size(), 2);
  const Change& change = result.changes[1];
  EXPECT_EQ(change.kind, ChangeKind::kSwitch);
  EXPECT_EQ(change.lost_steps, 0);
  // Commit may come after the nodes have gone, what moves may not.
  EXPECT_LE(change.begin_ns + change.waited_ns + change.time.source_ns(),
            1000 * kSecond + 63'600'000'000);
  EXPECT_EQ(change.pause_ns, change.waited_ns + kSwitch);
}

TEST(SimulationTest, TooShortANoticeGoesBackToTheCheckpoint) {
  const RunResult result = RunRows("0,+,4,\n1000,-,2,30\n");
  ASSERT_EQ(result.changes.size(), 2);
  const Change& change = result.changes[1];
  EXPECT_EQ(change.kind, ChangeKind::kRecover);
  EXPECT_EQ(change.begin_ns, 1030 * kSecond);
  // Init began with the notice.
  EXPECT_EQ(change.waited_ns, kInit - 30 * kSecond);
  // Saved 600 s after the start.
  const int64_t started = result.changes[0].end_ns();
  const int64_t done = (1030 * kSecond - started) / StepNs(4);
  const int64_t saved = 600 * kSecond / StepNs(4);
  EXPECT_EQ(change.lost_steps, done - saved);
  EXPECT_GT(change.time.storage_bytes, 0);
  EXPECT_EQ(result.lost_steps, change.lost_steps);
}

// A checkpoint falls due in the pause of a switch, and has what was done before
// it.
TEST(SimulationTest, ACheckpointThatIsDueInAPauseHasTheStepBefore) {
  SimulationOptions options = Options();
  options.overlap = false;  // 64 s without a step
  const RunResult first = RunRows("0,+,2,\n1000,+,2,\n", options);
  ASSERT_EQ(first.changes.size(), 2);
  const int64_t started = first.changes[0].end_ns();
  options.checkpoint_interval_ns =
      first.changes[1].begin_ns + kInit / 2 - started;
  const RunResult result = RunRows("0,+,2,\n1000,+,2,\n1500,-,1,0\n", options);
  ASSERT_EQ(result.changes.size(), 3);
  EXPECT_EQ(result.changes[2].kind, ChangeKind::kRecover);
  EXPECT_EQ(result.changes[2].lost_steps,
            (1500 * kSecond - result.changes[1].end_ns()) / StepNs(4));
}

TEST(SimulationTest, NoNoticeIsMissedFirst) {
  const RunResult result = RunRows("0,+,4,\n1000,-,1,0\n");
  ASSERT_EQ(result.changes.size(), 2);
  EXPECT_EQ(result.changes[1].kind, ChangeKind::kRecover);
  EXPECT_EQ(result.changes[1].begin_ns, 1000 * kSecond);
  EXPECT_EQ(result.changes[1].waited_ns, kDetect + kInit);
}

TEST(SimulationTest, NobodyLeftSavesAndStands) {
  const RunResult result = RunRows("0,+,2,\n1000,-,2,120\n2000,+,1,\n");
  ASSERT_EQ(result.changes.size(), 3);
  EXPECT_EQ(result.changes[1].kind, ChangeKind::kStop);
  EXPECT_EQ(result.changes[1].lost_steps, 0);
  EXPECT_LE(result.changes[1].end_ns(), 1120 * kSecond);
  EXPECT_EQ(result.changes[2].kind, ChangeKind::kStart);
  EXPECT_GT(result.changes[2].time.storage_bytes, 0) << "loads what it saved";
  EXPECT_EQ(result.down_ns, 2000 * kSecond - result.changes[1].end_ns());
  EXPECT_EQ(result.lost_steps, 0);
}

TEST(SimulationTest, EventsWaitForAChangeThatGoesOn) {
  const RunResult result = RunRows("0,+,1,\n1000,+,1,\n1010,+,1,\n1020,+,1,\n");
  ASSERT_EQ(result.changes.size(), 3);
  EXPECT_EQ(result.changes[1].nodes_after, 2);
  EXPECT_EQ(result.changes[2].nodes_after, 4);
  EXPECT_GE(result.changes[2].begin_ns, result.changes[1].end_ns());
}

TEST(SimulationTest, ASpareNodeChangesNothing) {
  Sizer sizer =
      *Sizer::Create(Tiny(), {{.tp = 2, .pp = 2}}, Cluster(), Slow(), 0);
  JobCache jobs(Tiny(), Cluster());
  const Trace trace = *Trace::Parse(
      "time_s,event,nodes,notice_s\n0,+,2,\n500,+,1,\n600,-,n0,120\n", 4);
  const RunResult result =
      *Simulate(trace, sizer, jobs, FakeStrategy(), Options(), [](int, int) {});
  // Three nodes run as two; when n0 goes, the spare takes its place.
  ASSERT_EQ(result.changes.size(), 2);
  EXPECT_EQ(result.changes[1].event_ns, 600 * kSecond);
  EXPECT_EQ(result.changes[1].nodes_after, 2);
}

TEST(SimulationTest, GoodputIsWhatWasKeptOfTheIdeal) {
  SimulationOptions options = Options();
  options.init_ns = 0;
  options.site.pause.drain_ns = options.site.pause.commit_ns = 0;
  EXPECT_NEAR(RunRows("0,+,4,\n", options).goodput(), 1, 1e-2);
  const double costly = RunRows("0,+,4,\n1000,-,2,0\n").goodput();
  EXPECT_GT(costly, 0);
  EXPECT_LT(costly, 1);
  EXPECT_EQ(RunRows("").goodput(), 1);
  // Nodes that have said when they go are there until then, and no longer.
  const RunResult goes = RunRows("0,+,4,\n1000,-,2,120\n");
  EXPECT_NEAR(goes.ideal_tokens,
              32'768 * (1120.0 * kSecond / StepNs(4) +
                        (4600.0 - 1120.0) * kSecond / StepNs(2)),
              1);
}

TEST(SimulationTest, ACheckpointThatItMadeItselfIsTheLast) {
  const RunResult result = RunRows("0,+,4,\n1000,-,1,120\n1300,-,1,0\n",
                                   Options(), CheckpointStrategy());
  ASSERT_EQ(result.changes.size(), 3);
  EXPECT_EQ(result.changes[1].kind, ChangeKind::kSwitch);
  EXPECT_EQ(result.changes[2].kind, ChangeKind::kRecover);
  const int64_t since = 1300 * kSecond - result.changes[1].end_ns();
  EXPECT_EQ(result.changes[2].lost_steps, since / StepNs(3));
}

// What would come after the end neither happens nor is counted.
TEST(SimulationTest, NothingGoesOnAfterTheEnd) {
  // Would save just before 8200 s; the end is at 4600 s.
  const RunResult stop = RunRows("0,+,4,\n1000,-,4,7200\n");
  EXPECT_LE(stop.goodput(), 1);
  ASSERT_EQ(stop.changes.size(), 1);
  EXPECT_EQ(stop.steps, (stop.end_ns - stop.changes[0].end_ns()) / StepNs(4));

  SimulationOptions options = Options();
  options.end_ns = 1020 * kSecond;
  const RunResult change = RunRows("0,+,2,\n1000,+,2,\n", options);
  EXPECT_EQ(change.changes.size(), 1) << "init is over at 1060 s";
  EXPECT_LE(change.goodput(), 1);
  const RunResult recover = RunRows("0,+,4,\n1000,-,2,30\n", options);
  EXPECT_EQ(recover.changes.size(), 1) << "they go at 1030 s";
  EXPECT_EQ(recover.lost_steps, 0);
  EXPECT_LE(recover.goodput(), 1);
}

TEST(SimulationTest, APauseIsCountedUntilTheEnd) {
  SimulationOptions options = Options();
  options.end_ns = kInit / 2;
  const RunResult result = RunRows("0,+,2,\n10,+,1,\n40,+,1,\n", options);
  EXPECT_EQ(result.changes.size(), 1);
  EXPECT_EQ(result.paused_ns, options.end_ns);
  EXPECT_EQ(result.steps, 0);
  // The job has not started when another node comes, and the end is before.
  options.end_ns = 50 * kSecond;
  EXPECT_EQ(RunRows("0,+,2,\n40,+,1,\n", options).changes.size(), 1);
}

// Steps shorter than a ns, and ones longer than 64 bits of them.
TEST(SimulationTest, NoStepIsTooShortOrTooLong) {
  StepFigures figures;
  figures.batch_tokens = figures.sequence_tokens = 1;
  figures.flops_per_second = 1e18;
  figures.efficiency = 1;
  Sizer quick = *Sizer::Create(Tiny(), {}, Cluster(), figures, 0);
  EXPECT_GE(quick.Best(1)->step_ns, 1);
  figures.batch_tokens = 1'000'000'000'000;
  figures.flops_per_second = 1e6;
  figures.efficiency = 1e-3;
  Sizer slow = *Sizer::Create(Tiny(), {}, Cluster(), figures, 0);
  JobCache jobs(Tiny(), Cluster());
  const Trace trace =
      *Trace::Parse("time_s,event,nodes,notice_s\n0,+,4,\n1000,-,1,120\n", 4);
  const RunResult result =
      *Simulate(trace, slow, jobs, FakeStrategy(), Options(), [](int, int) {});
  EXPECT_EQ(result.steps, 0);
}

TEST(SimulationTest, OptionsOutOfRangeAreNamed) {
  SimulationOptions options = Options();
  options.init_ns = -1;
  EXPECT_THAT(CheckOptions(options).message(), testing::HasSubstr("init_s"));
  options = Options();
  options.checkpoint_interval_ns = 0;
  EXPECT_THAT(CheckOptions(options).message(),
              testing::HasSubstr("checkpoint_s"));
}

TEST(SizerTest, ShapesThatFitNowhereAreRefused) {
  const auto sizer = Sizer::Create(Tiny(), {{.tp = 3}}, Cluster(), Slow(), 0);
  ASSERT_FALSE(sizer.ok());
  EXPECT_THAT(sizer.status().message(), testing::HasSubstr("layout tp3,pp1"));
  const auto small = Sizer::Create(Tiny(), {{.tp = 2}}, Cluster(), Slow(), 1);
  ASSERT_FALSE(small.ok());
  EXPECT_THAT(small.status().message(), testing::HasSubstr("one needs"));
}

TEST(SizerTest, AJobThatFitsNowhereIsRefused) {
  const auto sizer = Sizer::Create(Tiny(), {}, Cluster(), Slow(), 1 << 30);
  ASSERT_FALSE(sizer.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(sizer.status()));
  EXPECT_THAT(sizer.status().message(),
              testing::HasSubstr("no layout of tiny fits 4 nodes"));
}

TEST(SizerTest, TakesTheShortestStepOfThoseThatFit) {
  Sizer sizer = *Sizer::Create(Tiny(), {}, Cluster(), Slow(), 0);
  for (int nodes = 1; nodes <= 4; ++nodes) {
    const Sizing best = *sizer.Best(nodes);
    EXPECT_LE(best.nodes, nodes);
    for (const Shape& shape :
         {Shape{.tp = 1}, Shape{.tp = 2}, Shape{.tp = 1, .pp = 2}}) {
      if (shape.DataParallel(best.ranks) == 0) continue;
      EXPECT_LE(
          best.step_ns,
          StepTimeOf(Tiny().config, shape, best.ranks, Cluster(), Slow()).ns());
    }
  }
  EXPECT_EQ(sizer.Best(0), std::nullopt);
}

TEST(SizerTest, FewerRunWhereNoShapeDividesTheRanks) {
  Sizer sizer =
      *Sizer::Create(Tiny(), {{.tp = 2, .pp = 2}}, Cluster(), Slow(), 0);
  EXPECT_EQ(sizer.Best(1), std::nullopt);
  EXPECT_EQ(sizer.Best(3)->nodes, 2);
  EXPECT_EQ(sizer.Best(3), sizer.Best(2));
  EXPECT_EQ(sizer.Best(4)->nodes, 4);
}

}  // namespace
}  // namespace dynatrain::simulate
