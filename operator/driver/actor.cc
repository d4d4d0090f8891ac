#include "operator/driver/actor.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "api/job/job.h"
#include "base/status_macros.h"
#include "operator/driver/pod_view.h"
#include "operator/kube/api_error.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {
namespace {

constexpr absl::Duration kFlush = absl::Seconds(10);

// The names of fail points: what a write is for.
std::string WriteName(const api::JobStatus& before, const WriteStatus& write) {
  if (write.takes_term) return "Term";
  const api::JobStatus& after = write.status;
  if (after.transition.has_value() &&
      (!before.transition.has_value() ||
       before.transition->id != after.transition->id ||
       before.transition->phase != after.transition->phase)) {
    return after.transition->phase;
  }
  return "Status";
}

// Puts the key in that a decision must not know.
absl::StatusOr<Json> PodWithKey(const std::string& body,
                                const std::string& key) {
  Json pod = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const Json& containers = At(pod, "/spec/containers");
  if (containers.is_array() && !containers.empty() &&
      At(containers[0], "/env").is_array()) {
    for (Json& entry : pod["spec"]["containers"][0]["env"]) {
      if (TextAt(entry, "/name") != "DYNATRAIN_KEY") continue;
      entry["value"] = key;
      return pod;
    }
  }
  return absl::InternalError(
      "the pod's first container has no variable DYNATRAIN_KEY");
}

class Actor {
 public:
  Actor(const ActorTargets& targets, const SharedJson& job,
        const Snapshot& snapshot, JobRuntime& runtime)
      : targets_(targets), job_(job), snapshot_(snapshot), runtime_(runtime) {}

  RoundResult Run(const std::vector<Action>& actions) {
    RoundResult result;
    for (const Action& action : actions) {
      result.status =
          std::visit([this](const auto& what) { return Do(what); }, action);
      if (!result.status.ok()) break;
    }
    result.requeue_after = requeue_after_;
    return result;
  }

 private:
  const api::JobMetadata& metadata() const { return snapshot_.job.metadata; }
  std::string Log() const {
    return absl::StrCat("job=", metadata().namespace_name, "/", metadata().name,
                        " term=", runtime_.term);
  }
  void Hit(absl::string_view when, absl::string_view what) const {
    targets_.fail_points->Hit(absl::StrCat(when, "-", what));
  }

  absl::Status Do(const CreatePod& create);
  absl::Status Do(const DeletePod& remove);
  absl::Status Do(const WriteStatus& write);
  absl::Status Do(const RecordEvent& event);
  absl::Status Do(const RequeueAfter& requeue);
  absl::Status Do(const StandDown& stand_down);
  absl::Status Do(const SendPrepare& prepare);
  absl::Status Do(const SendGreet& send) {
    return Send("Greet", send, &agent::AgentApi::Greet);
  }
  absl::Status Do(const SendGo& send) {
    return Send("Go", send, &agent::AgentApi::Go);
  }
  absl::Status Do(const SendCancel& send) {
    return Send("Cancel", send, &agent::AgentApi::Cancel);
  }
  absl::Status Do(const SendCommit& send) {
    return Send("Commit", send, &agent::AgentApi::Commit);
  }
  absl::Status Do(const SendArm& send);
  absl::Status Do(const SendAbort& send) {
    return SendReason("Abort", send, &agent::AgentApi::Abort);
  }
  absl::Status Do(const SendDismiss& send) {
    return SendReason("Dismiss", send, &agent::AgentApi::Dismiss);
  }

  absl::Status AdoptIfOurs(const CreatePod& create, const absl::Status& exists);
  // After a write whose outcome is unknown or that came too late.
  absl::Status ReadAgain(const absl::Status& why);

  using Sender = std::function<absl::Status(agent::AgentApi&, Deadline)>;
  void Broadcast(absl::string_view name, const Fence& fence,
                 absl::string_view detail,
                 const std::vector<AgentTarget>& targets, const Sender& send);
  template <typename Command>
  absl::Status Send(absl::string_view name, const Command& command,
                    absl::Status (agent::AgentApi::*method)(
                        const transition::Fence&, Deadline)) {
    Broadcast(name, command.fence, "", command.targets,
              [fence = command.fence, method](agent::AgentApi& api,
                                              Deadline deadline) {
                return (api.*method)(fence, deadline);
              });
    return absl::OkStatus();
  }
  template <typename Command>
  absl::Status SendReason(
      absl::string_view name, const Command& command,
      absl::Status (agent::AgentApi::*method)(const transition::Fence&,
                                              const std::string&, Deadline)) {
    Broadcast(name, command.fence, command.reason, command.targets,
              [fence = command.fence, reason = command.reason, method](
                  agent::AgentApi& api, Deadline deadline) {
                return (api.*method)(fence, reason, deadline);
              });
    return absl::OkStatus();
  }

  const ActorTargets& targets_;
  const SharedJson& job_;
  const Snapshot& snapshot_;
  JobRuntime& runtime_;
  absl::Duration requeue_after_ = absl::InfiniteDuration();
};

absl::Status Actor::AdoptIfOurs(const CreatePod& create,
                                const absl::Status& exists) {
  ASSIGN_OR_RETURN(
      const Json pod,
      targets_.client->Get(Pods(), metadata().namespace_name, create.name));
  if (OwnerUidOf(pod) != metadata().uid) {
    return WithContext(exists, "a pod of that name belongs to someone else");
  }
  targets_.pods->ApplyOwnWrite(pod);
  return absl::OkStatus();
}

absl::Status Actor::Do(const CreatePod& create) {
  Hit("before", "create-pod");
  absl::StatusOr<Json> body = PodWithKey(create.body, runtime_.key());
  RETURN_IF_ERROR(body.status());
  const absl::StatusOr<Json> pod =
      targets_.client->Create(Pods(), metadata().namespace_name, *body);
  Hit("after", "create-pod");
  absl::Status status = pod.status();
  if (status.ok()) {
    targets_.pods->ApplyOwnWrite(*pod);
    spdlog::info("msg=\"pod created\" {} pod={}", Log(), create.name);
  } else if (absl::IsAlreadyExists(status)) {
    status = AdoptIfOurs(create, status);
  }
  if (status.ok()) {
    runtime_.create_error.reset();
    return status;
  }
  const std::optional<ApiError> refusal = GetApiError(status);
  runtime_.create_error =
      CreateError{std::string(status.message()), absl::Now(),
                  refusal.has_value() && refusal->IsNamespaceTerminating()};
  return WithContext(status, absl::StrCat("creating pod ", create.name));
}

absl::Status Actor::Do(const DeletePod& remove) {
  Hit("before", "delete-pod");
  DeleteOptions options = {.uid = remove.uid};
  if (remove.grace >= absl::ZeroDuration()) options.grace_period = remove.grace;
  const absl::StatusOr<Json> pod = targets_.client->Delete(
      Pods(), metadata().namespace_name, remove.name, options);
  Hit("after", "delete-pod");
  // Aborted: a namesake; the one that was meant is gone.
  if (absl::IsNotFound(pod.status()) || absl::IsAborted(pod.status())) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(pod.status(), absl::StrCat("deleting pod ", remove.name));
  spdlog::info("msg=\"pod deleted\" {} pod={} reason=\"{}\"", Log(),
               remove.name, remove.reason);
  if (!TextAt(*pod, "/metadata/deletionTimestamp").empty()) {
    targets_.pods->ApplyOwnWrite(*pod);
  }
  return absl::OkStatus();
}

absl::Status Actor::ReadAgain(const absl::Status& why) {
  ASSIGN_OR_RETURN(
      const Json job,
      targets_.client->Get(TrainingJobs(), metadata().namespace_name,
                           metadata().name),
      absl::StrCat("reading the job again after: ", why.message()));
  targets_.jobs->ApplyOwnWrite(job);
  return why;
}

absl::Status Actor::Do(const WriteStatus& write) {
  if (job_ == nullptr) {
    return absl::InternalError(
        "a status was to be written for a job that is gone");
  }
  const Json before = Json::parse(api::ToJson(snapshot_.job.status));
  const Json after = Json::parse(api::ToJson(write.status));
  const Json patch = MergeDiff(before, after);
  if (patch.empty()) return absl::OkStatus();
  const std::string name = WriteName(snapshot_.job.status, write);
  Hit("before-write", name);
  const absl::StatusOr<Json> job = targets_.client->PatchStatus(
      TrainingJobs(), metadata().namespace_name, metadata().name,
      metadata().resource_version, patch);
  Hit("after-write", name);
  if (!job.ok()) {
    const absl::Status status =
        WithContext(job.status(), absl::StrCat("writing status (", name, ")"));
    return absl::IsAborted(status) || absl::IsUnavailable(status) ||
                   absl::IsDeadlineExceeded(status)
               ? ReadAgain(status)
               : status;
  }
  if (write.takes_term) runtime_.term = write.status.operator_term;
  targets_.jobs->ApplyOwnWrite(*job);
  spdlog::info("msg=\"status written\" {} write={} generation={} phase={}",
               Log(), name, write.status.generation, write.status.phase);
  return absl::OkStatus();
}

absl::Status Actor::Do(const RecordEvent& event) {
  if (job_ != nullptr) {
    targets_.events->Record(*job_, {.warning = event.warning,
                                    .reason = event.reason,
                                    .action = event.action,
                                    .note = event.note});
  }
  return absl::OkStatus();
}

absl::Status Actor::Do(const RequeueAfter& requeue) {
  requeue_after_ = std::min(requeue_after_, requeue.delay);
  return absl::OkStatus();
}

absl::Status Actor::Do(const StandDown& stand_down) {
  spdlog::error("msg=\"deposed\" {} by_term={}", Log(), stand_down.term);
  runtime_.deposed_since = absl::Now();
  runtime_.Connect({});
  return absl::OkStatus();
}

void Actor::Broadcast(absl::string_view name, const Fence& fence,
                      absl::string_view detail,
                      const std::vector<AgentTarget>& targets,
                      const Sender& send) {
  const std::string key = absl::StrCat(name, " generation=", fence.generation,
                                       " term=", fence.term);
  const std::string text = absl::StrCat(key, detail.empty() ? "" : " ", detail);
  const FailPoints& points = *targets_.fail_points;
  Hit("before-send", name);
  std::string serials;
  std::vector<AgentLink*> links;
  for (const AgentTarget& target : targets) {
    AgentLink* const link = runtime_.Link(target.serial, target.address);
    if (link == nullptr ||
        !link->Send({.key = key, .text = text, .send = send})) {
      continue;
    }
    links.push_back(link);
    absl::StrAppend(&serials, serials.empty() ? "" : ",", target.serial);
    if (links.size() == 1 && points.IsSet(absl::StrCat("amid-send-", name))) {
      link->Flush(kFlush);
      Hit("amid-send", name);
    }
  }
  if (links.empty()) return;
  spdlog::info("msg=\"send\" {} command=\"{}\" to={}", Log(), text, serials);
  if (!points.IsSet(absl::StrCat("after-send-", name))) return;
  for (AgentLink* const link : links) link->Flush(kFlush);
  Hit("after-send", name);
}

absl::Status Actor::Do(const SendArm& send) {
  Broadcast("Arm", send.fence, absl::StrCat("step=", send.step), send.targets,
            [fence = send.fence, step = send.step](agent::AgentApi& api,
                                                   Deadline deadline) {
              return api.Arm(fence, step, deadline).status();
            });
  return absl::OkStatus();
}

absl::Status Actor::Do(const SendPrepare& prepare) {
  agent::Transition transition = prepare.transition;
  if (!transition.source.members.empty()) {
    ASSIGN_OR_RETURN(transition.manifest,
                     runtime_.Manifest(prepare.manifest_digest),
                     "preparing a transition");
  }
  Broadcast("Prepare", prepare.fence, transition.id, prepare.targets,
            [fence = prepare.fence, transition](agent::AgentApi& api,
                                                Deadline deadline) {
              return api.Prepare(fence, transition, deadline);
            });
  return absl::OkStatus();
}

}  // namespace

RoundResult Act(const ActorTargets& targets, const SharedJson& job,
                const Snapshot& snapshot, const std::vector<Action>& actions,
                JobRuntime& runtime) {
  return Actor(targets, job, snapshot, runtime).Run(actions);
}

}  // namespace dynatrain::control
