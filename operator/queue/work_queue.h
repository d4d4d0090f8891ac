// Which jobs want to be looked at, and when.
//
// A key that is added many times before it is taken is given out once. A key is
// never with two workers: added while one has it, it is given out again when
// that one is done. Keys can be due later, by a wish (AddAfter) or because the
// last attempts failed (AddAfterFailure); the earliest wish counts.
#ifndef OPERATOR_QUEUE_WORK_QUEUE_H_
#define OPERATOR_QUEUE_WORK_QUEUE_H_

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace dynatrain::control {

struct WorkQueueOptions {
  // The pause after the first failure of a key; doubled by each further one.
  absl::Duration first_pause = absl::Milliseconds(20);
  absl::Duration longest_pause = absl::Seconds(30);
};

// Thread-safe.
class WorkQueue {
 public:
  explicit WorkQueue(WorkQueueOptions options = {}) : options_(options) {}

  // Wants `key` to be looked at now.
  void Add(const std::string& key);
  void AddAfter(const std::string& key, absl::Duration delay);
  // After a pause that grows with each call until Forget.
  void AddAfterFailure(const std::string& key);
  // The last attempt went well.
  void Forget(const std::string& key);

  // Waits for a key that is due and that no worker has; nothing after
  // ShutDown.
  std::optional<std::string> Take();
  // REQUIRES: `key` was taken and is not done.
  void Done(const std::string& key);

  // Lets every Take return.
  void ShutDown();

  size_t ready() const;

 private:
  void AddLocked(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves what is due to `ready_`; returns when the next one will be.
  absl::Time Promote(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkQueueOptions options_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  std::deque<std::string> ready_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> waiting_
      ABSL_GUARDED_BY(mutex_);  // in ready_, or dirty
  std::set<std::string> taken_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, absl::Time> later_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> failures_ ABSL_GUARDED_BY(mutex_);
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_QUEUE_WORK_QUEUE_H_
