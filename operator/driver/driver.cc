#include "operator/driver/driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "operator/driver/pod_view.h"
#include "operator/kube/log_text.h"
#include "operator/reconcile/pod.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {
namespace {

constexpr absl::Duration kResendPause = absl::Milliseconds(200);

// "namespace/name" of the job that a job or pod belongs to; "" if to none.
std::string KeyOfJob(const Json& job) {
  return absl::StrCat(NamespaceOf(job), "/", NameOf(job));
}
std::string KeyOfPod(const Json& pod) {
  const std::string job = LabelOf(pod, kJobLabel);
  return job.empty() ? "" : absl::StrCat(NamespaceOf(pod), "/", job);
}

std::pair<std::string, std::string> Split(const std::string& key) {
  return absl::StrSplit(key, absl::MaxSplits('/', 1));
}

InformerOptions PodOptionsOf(InformerOptions options) {
  options.trim = TrimPod;
  options.group_of = KeyOfPod;
  return options;
}

}  // namespace

Driver::Driver(KubeClient* client, JobKeys keys, AgentFactory agents,
               DecideFunction decide, DriverOptions options)
    : client_(client),
      keys_(std::move(keys)),
      agents_(std::move(agents)),
      decide_(std::move(decide)),
      options_(std::move(options)),
      events_(client_, {.instance = options_.self.name}),
      jobs_(
          client_, TrainingJobs(), {.ns = options_.ns},
          [this](const ObjectChange& change) {
            queue_.Add(KeyOfJob(change.object()));
          },
          options_.informer),
      pods_(
          client_, Pods(), {.ns = options_.ns, .label_selector = kJobLabel},
          [this](const ObjectChange& change) {
            const std::string key = KeyOfPod(change.object());
            if (!key.empty()) queue_.Add(key);
          },
          PodOptionsOf(options_.informer)) {}

Driver::~Driver() {
  queue_.ShutDown();
  for (std::thread& worker : workers_) worker.join();
  absl::MutexLock lock(&mutex_);
  runtimes_.clear();
}

void Driver::Start() {
  jobs_.Start();
  pods_.Start();
  for (int i = 0; i < options_.workers; ++i) {
    workers_.emplace_back([this] { Work(); });
  }
}

absl::Status Driver::WaitUntilReady(absl::Duration timeout) const {
  RETURN_IF_ERROR(jobs_.WaitForSync(timeout));
  return pods_.WaitForSync(timeout);
}

void Driver::Work() {
  while (const std::optional<std::string> key = queue_.Take()) {
    // A decision without all pods in view would make second ones. The lists'
    // objects come to the queue again, each as it is delivered.
    const absl::Status status =
        ready() ? Reconcile(*key) : absl::UnavailableError("not listed yet");
    if (status.ok()) {
      queue_.Forget(*key);
    } else {
      if (ready()) {
        spdlog::warn("msg=\"round ended\" job={} error=\"{}\"", *key,
                     LogText(status));
      }
      queue_.AddAfterFailure(*key);
    }
    queue_.Done(*key);
  }
}

std::set<std::string> Driver::UidsOf(const std::string& key,
                                     const SharedJson& job) {
  std::set<std::string> uids;
  if (job != nullptr) uids.insert(UidOf(*job));
  for (const SharedJson& pod : pods_.cache().All(key)) {
    uids.insert(OwnerUidOf(*pod));
  }
  absl::MutexLock lock(&mutex_);
  for (const auto& [uid, entry] : runtimes_) {
    if (entry.key == key) uids.insert(uid);
  }
  uids.erase("");  // A pod with our label that nobody owns.
  return uids;
}

absl::Status Driver::Reconcile(const std::string& key) {
  const auto [ns, name] = Split(key);
  const SharedJson job = jobs_.cache().Find(ns, name);
  absl::Status result;
  for (const std::string& uid : UidsOf(key, job)) {
    const bool current = job != nullptr && UidOf(*job) == uid;
    result.Update(Round(key, uid, current ? job : nullptr));
  }
  return result;
}

absl::Status Driver::Round(const std::string& key, const std::string& uid,
                           const SharedJson& job) {
  const auto [ns, name] = Split(key);
  JobRuntime& runtime = RuntimeOf(key, uid);
  if (runtime.deposed_since) {
    StandAside(key, uid, job, runtime);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(
      const Snapshot snapshot,
      Observe(options_.self, job, ns, name, pods_.cache().All(key), runtime));
  if (snapshot.job_gone && snapshot.pods.empty()) {
    Drop(uid);
    return absl::OkStatus();
  }
  const std::vector<Action> actions = decide_(snapshot);
  spdlog::debug("msg=\"round\" job={} version={} actions={}", key,
                snapshot.job.metadata.resource_version, actions.size());
  const RoundResult result = Act({.client = client_,
                                  .jobs = &jobs_,
                                  .pods = &pods_,
                                  .events = &events_,
                                  .fail_points = &options_.fail_points},
                                 job, snapshot, actions, runtime);
  if (runtime.deposed_since) StandAside(key, uid, job, runtime);
  if (result.requeue_after < absl::InfiniteDuration()) {
    queue_.AddAfter(key, result.requeue_after);
  }
  return result.status;
}

void Driver::StandAside(const std::string& key, const std::string& uid,
                        const SharedJson& job, const JobRuntime& runtime) {
  if (job == nullptr && pods_.cache().All(key).empty()) {
    Drop(uid);
    return;
  }
  const absl::Duration left =
      *runtime.deposed_since + options_.stand_aside - absl::Now();
  if (left > absl::ZeroDuration()) {
    queue_.AddAfter(key, left);
  } else {
    options_.begin_anew();
  }
}

JobRuntime& Driver::RuntimeOf(const std::string& key, const std::string& uid) {
  absl::MutexLock lock(&mutex_);
  Entry& entry = runtimes_[uid];
  if (entry.runtime == nullptr) {
    entry.key = key;
    entry.runtime = std::make_unique<JobRuntime>(
        uid, keys_.KeyOf(uid), options_.self.agent_port, agents_,
        AgentEvents{
            .on_change = [this, key] { queue_.Add(key); },
            .on_failure = [this, key] { queue_.AddAfter(key, kResendPause); }});
  }
  return *entry.runtime;
}

void Driver::Drop(const std::string& uid) {
  std::unique_ptr<JobRuntime> runtime;
  absl::MutexLock lock(&mutex_);
  const auto it = runtimes_.find(uid);
  if (it == runtimes_.end()) return;
  // Its links' threads may be about to add the key: not under the lock.
  runtime = std::move(it->second.runtime);
  runtimes_.erase(it);
}

}  // namespace dynatrain::control
