// The operator's loop: one round per job whenever something about it changed.
//
//   a change of the job or its pods ─┐
//   an agent said something new ─────┼─▶ queue ─▶ worker: observe, decide, act
//   a time was reached ──────────────┘
//
// One worker has a job at a time. Nothing is polled: between the last agent's
// "verified" and the commit write lies one wake-up.
#ifndef OPERATOR_DRIVER_DRIVER_H_
#define OPERATOR_DRIVER_DRIVER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "operator/driver/actor.h"
#include "operator/driver/fail_points.h"
#include "operator/driver/job_key.h"
#include "operator/driver/job_runtime.h"
#include "operator/driver/observer.h"
#include "operator/kube/client.h"
#include "operator/kube/event_recorder.h"
#include "operator/kube/informer.h"
#include "operator/queue/work_queue.h"

namespace dynatrain::control {

struct DriverOptions {
  OperatorIdentity self;
  std::string ns;  // empty: all namespaces
  int workers = 4;
  // For so long this operator is silent about a job that another one took; then
  // `begin_anew` is called, by a worker, and again at each later round. The
  // other one may be gone by then, and only a new process takes a new term.
  absl::Duration stand_aside = absl::Minutes(1);
  std::function<void()> begin_anew = [] {};
  FailPoints fail_points;
  InformerOptions informer;
};

// Thread-safe.
class Driver {
 public:
  using DecideFunction = std::function<std::vector<Action>(const Snapshot&)>;

  // `client` outlives the driver.
  Driver(KubeClient* client, JobKeys keys, AgentFactory agents,
         DecideFunction decide, DriverOptions options);
  // Lets running rounds end, sends what events are queued.
  ~Driver();

  void Start();
  // Whether jobs and pods have been listed.
  bool ready() const { return jobs_.synced() && pods_.synced(); }
  absl::Status WaitUntilReady(absl::Duration timeout) const;

 private:
  void Work();
  absl::Status Reconcile(const std::string& key);
  // The uids that the key's job, pods and connections belong to.
  std::set<std::string> UidsOf(const std::string& key, const SharedJson& job);
  absl::Status Round(const std::string& key, const std::string& uid,
                     const SharedJson& job);
  // What is left to do for a job that another operator has: wait.
  void StandAside(const std::string& key, const std::string& uid,
                  const SharedJson& job, const JobRuntime& runtime);
  JobRuntime& RuntimeOf(const std::string& key, const std::string& uid);
  void Drop(const std::string& uid);

  KubeClient* const client_;
  const JobKeys keys_;
  const AgentFactory agents_;
  const DecideFunction decide_;
  const DriverOptions options_;
  WorkQueue queue_;
  EventRecorder events_;
  Informer jobs_;
  Informer pods_;

  struct Entry {
    std::string key;
    std::unique_ptr<JobRuntime> runtime;
  };
  absl::Mutex mutex_;
  std::map<std::string /*uid*/, Entry> runtimes_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> workers_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_DRIVER_H_
