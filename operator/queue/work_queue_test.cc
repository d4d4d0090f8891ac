#include "operator/queue/work_queue.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

TEST(WorkQueueTest, GivesAKeyOnceHoweverOftenItWasAdded) {
  WorkQueue queue;
  queue.Add("a");
  queue.Add("b");
  queue.Add("a");
  EXPECT_EQ(queue.Take(), "a");
  EXPECT_EQ(queue.Take(), "b");
  EXPECT_EQ(queue.ready(), 0u);
}

TEST(WorkQueueTest, AKeyAddedWhileTakenComesAgainAfterDone) {
  WorkQueue queue;
  queue.Add("a");
  EXPECT_EQ(queue.Take(), "a");
  queue.Add("a");
  queue.Add("a");
  EXPECT_EQ(queue.ready(), 0u);
  queue.Done("a");
  EXPECT_EQ(queue.Take(), "a");
  queue.Done("a");
  EXPECT_EQ(queue.ready(), 0u);
}

TEST(WorkQueueTest, ADelayedKeyComesWhenItIsDueAndTheEarliestWishCounts) {
  WorkQueue queue;
  const absl::Time start = absl::Now();
  queue.AddAfter("a", absl::Hours(1));
  queue.AddAfter("a", absl::Milliseconds(30));
  queue.AddAfter("a", absl::Hours(1));
  EXPECT_EQ(queue.Take(), "a");
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(30));
  EXPECT_LT(absl::Now() - start, absl::Minutes(1));
}

TEST(WorkQueueTest, PausesGrowWithFailuresAndForgetEndsThat) {
  WorkQueue queue({.first_pause = absl::Milliseconds(10),
                   .longest_pause = absl::Milliseconds(40)});
  const auto pause = [&] {
    const absl::Time start = absl::Now();
    queue.AddAfterFailure("a");
    EXPECT_EQ(queue.Take(), "a");
    queue.Done("a");
    return absl::Now() - start;
  };
  EXPECT_GE(pause(), absl::Milliseconds(10));
  EXPECT_GE(pause(), absl::Milliseconds(20));
  EXPECT_GE(pause(), absl::Milliseconds(40));
  EXPECT_GE(pause(), absl::Milliseconds(40));
  queue.Forget("a");
  EXPECT_GE(pause(), absl::Milliseconds(10));
}

TEST(WorkQueueTest, ADelayedKeyWakesASleepingTaker) {
  WorkQueue queue;
  absl::Notification taken;
  std::thread worker([&] {
    EXPECT_EQ(queue.Take(), "a");
    taken.Notify();
  });
  queue.AddAfter("a", absl::Milliseconds(1));
  EXPECT_TRUE(taken.WaitForNotificationWithTimeout(absl::Seconds(10)));
  worker.join();
}

TEST(WorkQueueTest, ShutDownLetsAllTakersGo) {
  WorkQueue queue;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] { EXPECT_EQ(queue.Take(), std::nullopt); });
  }
  queue.ShutDown();
  for (std::thread& worker : workers) worker.join();
}

// Law: no key is with two workers, and after the last Add of a key it is
// looked at once more.
TEST(WorkQueueTest, NeverTwoWorkersOnAKeyAndNoLostWish) {
  constexpr int kKeys = 4, kRounds = 3000;
  WorkQueue queue;
  std::atomic<int> busy[kKeys] = {};
  std::atomic<int> wished[kKeys] = {};
  std::atomic<int> seen[kKeys] = {};
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&] {
      while (const auto key = queue.Take()) {
        const int k = (*key)[0] - 'a';
        EXPECT_EQ(busy[k]++, 0);
        seen[k] = wished[k].load();
        --busy[k];
        queue.Done(*key);
      }
    });
  }
  auto rng = TestRandom();
  for (int round = 0; round < kRounds; ++round) {
    const int k = rng() % kKeys;
    ++wished[k];
    const std::string key(1, 'a' + k);
    if (rng() % 4 == 0) {
      queue.AddAfter(key, absl::Microseconds(rng() % 50));
    } else {
      queue.Add(key);
    }
  }
  const absl::Time end = absl::Now() + absl::Seconds(10);
  for (int k = 0; k < kKeys; ++k) {
    queue.Add(std::string(1, 'a' + k));
    while (seen[k] != wished[k] && absl::Now() < end) std::this_thread::yield();
    EXPECT_EQ(seen[k], wished[k]);
  }
  queue.ShutDown();
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace dynatrain::control
