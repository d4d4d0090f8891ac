// Tells people what happened to an object: `kubectl describe` shows it.
//
// events.k8s.io/v1. A repeat of the same event within six minutes only raises
// the first one's series. Recording never blocks and never fails for the
// caller: a thread of its own sends, and what can't be sent is logged and
// dropped.
#ifndef OPERATOR_KUBE_EVENT_RECORDER_H_
#define OPERATOR_KUBE_EVENT_RECORDER_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "operator/kube/client.h"

namespace dynatrain::control {

struct Event {
  bool warning = false;
  std::string reason;  // CamelCase, at most 128 bytes
  std::string action;  // what was being done: "Reconcile"
  std::string note;    // for people; cut at 950 bytes
};

struct EventRecorderOptions {
  std::string controller = "dynatrain.io/operator";  // a qualified name
  std::string instance;                              // the pod's name
  std::function<absl::Time()> now = absl::Now;
};

// Thread-safe.
class EventRecorder {
 public:
  EventRecorder(KubeClient* client, EventRecorderOptions options);
  // Sends what is queued first: at most a few seconds.
  ~EventRecorder();

  // `regarding` needs apiVersion, kind and metadata {name, namespace, uid}.
  void Record(const Json& regarding, const Event& event);

  // Waits until all that was recorded has been sent or dropped.
  bool Flush(absl::Duration timeout);

 private:
  // What makes two events the same; the note doesn't.
  using Key = std::tuple<std::string /*uid*/, bool, std::string /*reason*/,
                         std::string /*action*/>;
  struct Sent {
    std::string ns;
    std::string name;
    int count = 1;
    absl::Time last;
  };
  struct Item {
    Json regarding;
    Event event;
    absl::Time time;
  };

  void Run(std::stop_token stop);
  void Send(const Item& item);
  bool RaiseSeries(const Key& key, const Item& item);
  void Create(const Key& key, const Item& item);
  void Forget(absl::Time now);
  bool Idle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return queue_.empty() && !sending_;
  }

  KubeClient* const client_;
  const EventRecorderOptions options_;
  std::map<Key, Sent> sent_;  // of the thread only
  absl::Mutex mutex_;
  std::deque<Item> queue_ ABSL_GUARDED_BY(mutex_);
  bool sending_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_EVENT_RECORDER_H_
