#include "agent/worker_pool.h"

#include <utility>

namespace dynatrain::agent {

WorkerPool::~WorkerPool() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::Run(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
  if (idle_ > 0) {
    --idle_;
  } else {
    threads_.emplace_back([this] { Work(); });
  }
}

void WorkerPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mutex_);
      const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return ended_ || !tasks_.empty();
      };
      mutex_.Await(absl::Condition(&ready));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    task = nullptr;
    absl::MutexLock lock(&mutex_);
    ++idle_;
  }
}

}  // namespace dynatrain::agent
