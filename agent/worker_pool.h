// Threads for calls that may wait long, so that no such call holds up another.
#ifndef AGENT_WORKER_POOL_H_
#define AGENT_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace dynatrain::agent {

// Thread-safe. A task starts at once: on an idle thread, or on a new one.
// Threads are kept, so that their number is that of the most tasks at a time.
class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for the tasks that run; whoever destroys it has made them end.
  ~WorkerPool();

  void Run(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;  // threads no task is meant for
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::agent

#endif  // AGENT_WORKER_POOL_H_
