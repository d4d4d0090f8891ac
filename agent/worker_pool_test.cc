#include "agent/worker_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace dynatrain::agent {
namespace {

TEST(WorkerPoolTest, ATaskThatWaitsHoldsUpNoOther) {
  absl::Notification release;
  absl::BlockingCounter waiting(3);
  WorkerPool pool;
  for (int i = 0; i < 3; ++i) {
    pool.Run([&] {
      waiting.DecrementCount();
      release.WaitForNotification();
    });
  }
  waiting.Wait();
  absl::Notification done;
  pool.Run([&] { done.Notify(); });
  done.WaitForNotification();
  release.Notify();
}

TEST(WorkerPoolTest, ThreadsAreUsedAgain) {
  absl::Mutex mutex;
  std::set<std::thread::id> threads;
  {
    WorkerPool pool;
    for (int i = 0; i < 100; ++i) {
      absl::Notification done;
      pool.Run([&] {
        absl::MutexLock lock(&mutex);
        threads.insert(std::this_thread::get_id());
        done.Notify();
      });
      done.WaitForNotification();
    }
  }
  // One that has just notified may not be idle yet.
  EXPECT_LE(threads.size(), 3);
}

}  // namespace
}  // namespace dynatrain::agent
