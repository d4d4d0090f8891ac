// Keeps an ObjectCache true by list and watch.
//
// Lists once, then watches from the list's version on. A watch that ends is
// begun again where it stopped; only a version that the server has forgotten
// (410) makes it list again, and then the difference is delivered, so that a
// deletion in the gap is not missed. See KUBERNETES.md §6.2 for the rules.
#ifndef OPERATOR_KUBE_INFORMER_H_
#define OPERATOR_KUBE_INFORMER_H_

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "operator/kube/backoff.h"
#include "operator/kube/client.h"
#include "operator/kube/object_cache.h"

namespace dynatrain::control {

struct InformerOptions {
  // The server ends a watch after a random time in this range, so that those
  // of many clients don't end together.
  absl::Duration min_watch = absl::Minutes(5);
  absl::Duration max_watch = absl::Minutes(10);
  // Bookmarks come about every minute: so long without a byte is a dead peer.
  absl::Duration silence = absl::Seconds(95);
  // A watch that ends sooner than this without an event has failed.
  absl::Duration very_short = absl::Seconds(1);
  BackoffOptions backoff;
  // Reduces an object to what is read of it, before it is kept.
  std::function<void(Json&)> trim;
  ObjectCache::GroupOf group_of;
};

// Thread-safe.
class Informer {
 public:
  // `on_change` runs on the informer's thread, after the cache has the change.
  Informer(KubeClient* client, Resource resource, Selection selection,
           std::function<void(const ObjectChange&)> on_change,
           InformerOptions options = {});
  // Ends the watch at once.
  ~Informer();

  void Start();
  const ObjectCache& cache() const { return cache_; }
  // Takes the answer to a write of ours in before the watch tells of it.
  void ApplyOwnWrite(const Json& object);

  // Whether a complete list has been read.
  bool synced() const;
  // kDeadlineExceeded, with the last error, if that takes longer.
  absl::Status WaitForSync(absl::Duration timeout) const;

  // How many lists were made: a test counts them.
  int lists() const;

 private:
  void Run(std::stop_token stop);
  absl::Status ListOnce();
  // One watch until it ends; says how many events it brought.
  absl::Status WatchOnce(std::stop_token stop, int& events);
  // What to do after a watch: returns how long to pause.
  absl::Duration AfterWatch(const absl::Status& status, int events,
                            absl::Duration lasted);
  void Deliver(const std::vector<ObjectChange>& changes);
  void Note(const absl::Status& status);

  KubeClient* const client_;
  const Resource resource_;
  const Selection selection_;
  const std::function<void(const ObjectChange&)> on_change_;
  const InformerOptions options_;
  ObjectCache cache_;

  // Of the informer's thread only.
  Backoff backoff_;
  std::mt19937_64 rng_;
  bool must_list_ = true;
  int too_large_in_a_row_ = 0;

  mutable absl::Mutex mutex_;
  bool synced_ ABSL_GUARDED_BY(mutex_) = false;
  int lists_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_INFORMER_H_
