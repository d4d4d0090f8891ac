#include "transition/schedule/queue_simulation.h"

#include <algorithm>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;

TEST(QueueSimulationTest, ASenderKeepsItsOrder) {
  EXPECT_THAT(EndTimes({{0, 1, 0, 1, 5}, {0, 2, 0, 2, 3}}, 3, 3, 1),
              ElementsAre(5, 8));
}

// In the order of 2, 1 -> 2 comes before 0 -> 2, but 1 has another job first:
// with one credit 0 waits for it, with two it does not.
TEST(QueueSimulationTest, CreditsLetAReceiverTakeWhatIsThere) {
  const std::vector<TransferJob> jobs = {
      {1, 3, 1, 3, 10}, {1, 2, 1, 2, 4}, {0, 2, 0, 2, 7}};
  EXPECT_THAT(EndTimes(jobs, 4, 4, 1), ElementsAre(10, 14, 21));
  EXPECT_THAT(EndTimes(jobs, 4, 4, 2), ElementsAre(10, 14, 7));
}

TEST(QueueSimulationTest, AJobOutOfTurnHoldsUpAPort) {
  const std::vector<TransferJob> jobs = {
      {1, 3, 1, 3, 10}, {1, 2, 1, 2, 4}, {0, 2, 0, 2, 30}};
  EXPECT_THAT(EndTimes(jobs, 4, 4, 2), ElementsAre(10, 34, 30));
}

TEST(QueueSimulationTest, SharedPortsServeOneAtATimeInTheOrderOfTheList) {
  // Senders 0 and 1 share out port 0, receivers 2 and 3 have their own.
  EXPECT_THAT(EndTimes({{0, 2, 0, 2, 5}, {1, 3, 0, 3, 5}}, 4, 4, 1),
              ElementsAre(5, 10));
  // Also where the first of the list has the higher sender.
  EXPECT_THAT(EndTimes({{1, 2, 0, 2, 5}, {0, 3, 0, 3, 5}}, 4, 4, 1),
              ElementsAre(5, 10));
}

TEST(QueueSimulationTest, NothingEndsAtNoTime) {
  EXPECT_TRUE(EndTimes({}, 2, 2, 1).empty());
  EXPECT_THAT(EndTimes({{0, 1, 0, 1, 0}}, 2, 2, 1), ElementsAre(0));
}

TEST(QueueSimulationTest, PiecesAreOfTheirParcelsStream) {
  const Schedule schedule = {.parcels = {{0, 1, 8, 5, /*stream=*/3}}};
  const auto time = [](int64_t bytes) { return 10 * bytes; };
  EXPECT_THAT(
      OrderTimes(schedule, {{0, 1}, 2}, {.piece_time = time, .piece_bytes = 4}),
      ElementsAre(TransferTime{{0, 1, 8, 4, 3}, 0, 40},
                  TransferTime{{0, 1, 12, 1, 3}, 40, 50}));
}

// With own ports and one credit the times are the longest path: a job starts
// when the jobs before it at both ends have ended.
TEST(QueueSimulationTest, WithOneCreditItIsTheLongestPath) {
  std::mt19937_64 random = TestRandom(3);
  for (int round = 0; round < 300; ++round) {
    const int ends = 2 + static_cast<int>(random() % 8);
    std::vector<TransferJob> jobs(random() % 40);
    std::vector<int64_t> out(ends), in(ends), expected;
    for (TransferJob& job : jobs) {
      const int from = static_cast<int>(random() % ends);
      const int to = static_cast<int>(random() % ends);
      job = {from, to, from, to, static_cast<int64_t>(random() % 10)};
      expected.push_back(std::max(out[from], in[to]) + job.duration);
      out[from] = in[to] = expected.back();
    }
    EXPECT_EQ(EndTimes(jobs, ends, ends, 1), expected);
  }
}

TEST(QueueSimulationTest, AlwaysEndsWithAnyCreditsAndSharedPorts) {
  std::mt19937_64 random = TestRandom(4);
  for (int round = 0; round < 300; ++round) {
    const int ends = 2 + static_cast<int>(random() % 8);
    const int ports = 1 + static_cast<int>(random() % ends);
    std::vector<TransferJob> jobs(random() % 40);
    int64_t sum = 0;
    for (TransferJob& job : jobs) {
      const int from = static_cast<int>(random() % ends);
      const int to = static_cast<int>(random() % ends);
      job = {from, to, from % ports, to % ports,
             static_cast<int64_t>(random() % 10)};
      sum += job.duration;
    }
    const int credits = 1 + static_cast<int>(random() % 5);
    const std::vector<int64_t> end = EndTimes(jobs, ends, ports, credits);
    for (size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_GE(end[i], jobs[i].duration);
      EXPECT_LE(end[i], sum);
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
