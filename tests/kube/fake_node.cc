#include "tests/kube/fake_node.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "operator/driver/pod_view.h"
#include "operator/kube/stop_sleep.h"
#include "operator/kube/time_text.h"

namespace dynatrain::control {
namespace {

constexpr absl::Duration kRound = absl::Milliseconds(10);

std::string EnvOf(const Json& pod, const std::string& name) {
  for (const Json& entry : At(pod, "/spec/containers")[0]["env"]) {
    if (TextAt(entry, "/name") == name) return TextAt(entry, "/value");
  }
  return "";
}

Json ContainerStatus(const Json& pod, const Json& state) {
  const Json& container = At(pod, "/spec/containers")[0];
  return {{"name", TextAt(container, "/name")},
          {"image", TextAt(container, "/image")},
          {"imageID", ""},
          {"ready", state.contains("running")},
          {"restartCount", 0},
          {"state", state}};
}

std::set<uint32_t> Serials(const Json& list) {
  std::set<uint32_t> serials;
  if (!list.is_array()) return serials;
  for (const Json& serial : list) serials.insert(serial.get<uint32_t>());
  return serials;
}

bool HasEnded(const Json& pod) {
  const std::string phase = TextAt(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

FakeNode::FakeNode(KubeClient* client, FakeNodeOptions options,
                   FakeAgent::Log log)
    : client_(client),
      options_(std::move(options)),
      log_(std::move(log)),
      informer_(client, Pods(),
                {.ns = options_.ns, .label_selector = "dynatrain.io/job"},
                [](const ObjectChange&) {}) {}

void FakeNode::Start() {
  informer_.Start();
  thread_ = std::jthread([this](std::stop_token stop) { Loop(stop); });
}

FakeNode::Control FakeNode::ReadControl() const {
  Control control;
  std::ifstream file(options_.control_file);
  std::ostringstream text;
  text << file.rdbuf();
  const Json json = Json::parse(text.str(), nullptr, false);
  control.max_pods = NumberAt(json, "/max_pods", control.max_pods);
  control.hang = Serials(At(json, "/hang"));
  control.refuse = Serials(At(json, "/refuse"));
  control.crash = Serials(At(json, "/crash"));
  control.finish = At(json, "/finish") == Json(true);
  control.grace = absl::Seconds(NumberAt(json, "/grace_s", 30));
  return control;
}

void FakeNode::Loop(std::stop_token stop) {
  while (SleepUnlessStopped(kRound, stop)) {
    const Control control = ReadControl();
    std::set<std::string> present;
    for (const SharedJson& pod : informer_.cache().All()) {
      present.insert(UidOf(*pod));
      Look(*pod, control);
    }
    // Deleted by force: SIGKILL.
    std::erase_if(pods_, [&](const auto& entry) {
      return !present.contains(entry.first);
    });
  }
}

size_t FakeNode::Running() const {
  return std::count_if(pods_.begin(), pods_.end(), [](const auto& entry) {
    return entry.second.agent != nullptr && !entry.second.ended;
  });
}

void FakeNode::Look(const Json& object, const Control& control) {
  const bool deleted = !TextAt(object, "/metadata/deletionTimestamp").empty();
  const auto it = pods_.find(UidOf(object));
  if (it == pods_.end()) {
    if (deleted) {
      Remove(object);
    } else if (!HasEnded(object)) {
      Run(object, control);
    }
    return;
  }
  Pod& pod = it->second;
  uint32_t serial = 0;
  (void)absl::SimpleAtoi(LabelOf(object, "dynatrain.io/serial"), &serial);
  pod.agent->Hang(control.hang.contains(serial));
  pod.agent->Refuse(control.refuse.contains(serial));
  if (control.finish) pod.agent->Finish();
  if (deleted && !pod.leaving) {
    pod.leaving = true;
    Leave(object, control);
  }
  std::optional<int> code = pod.agent->exit_code();
  if (control.crash.contains(serial)) code = 137;
  if (code.has_value() && !pod.ended) {
    pod.ended = true;
    const Json state = {{"terminated",
                         {{"exitCode", *code},
                          {"reason", *code == 0 ? "Completed" : "Error"},
                          {"startedAt", TimeText(absl::Now())},
                          {"finishedAt", TimeText(absl::Now())}}}};
    SetStatus(object, {{"phase", *code == 0 ? "Succeeded" : "Failed"},
                       {"containerStatuses",
                        Json::array({ContainerStatus(object, state)})}});
  }
  if (deleted && pod.ended) Remove(object);
}

void FakeNode::Run(const Json& object, const Control& control) {
  if (Running() >= control.max_pods) {
    const Json condition = {{"type", "PodScheduled"},
                            {"status", "False"},
                            {"reason", "Unschedulable"},
                            {"message", "0/1 nodes are available: no room"}};
    if (!At(object, "/status/conditions").is_array()) {
      SetStatus(object, {{"conditions", Json::array({condition})}});
    }
    return;
  }
  FakeAgentOptions options;
  options.job_uid = EnvOf(object, "DYNATRAIN_JOB_UID");
  options.key = EnvOf(object, "DYNATRAIN_KEY");
  options.ip = NextIp();
  options.port = options_.agent_port;
  (void)absl::SimpleAtoi(EnvOf(object, "DYNATRAIN_SERIAL"), &options.serial);
  (void)absl::SimpleAtoi(EnvOf(object, "DYNATRAIN_RANKS_PER_REPLICA"),
                         &options.ranks);
  absl::StatusOr<std::unique_ptr<FakeAgent>> agent =
      FakeAgent::Start(options, &checkpoints_, log_);
  if (!agent.ok()) {
    log_(Json({{"wrong", agent.status().ToString()}}).dump());
    return;
  }
  pods_[UidOf(object)].agent = *std::move(agent);
  Bind(object);
  const Json state = {{"running", {{"startedAt", TimeText(absl::Now())}}}};
  SetStatus(
      object,
      {{"phase", "Running"},
       {"podIP", options.ip},
       {"podIPs", Json::array({{{"ip", options.ip}}})},
       {"conditions",
        Json::array({{{"type", "PodScheduled"}, {"status", "True"}}})},
       {"containerStatuses", Json::array({ContainerStatus(object, state)})}});
}

// The scheduler's part. A pod that is on no node is deleted without a grace.
void FakeNode::Bind(const Json& object) {
  const Resource binding = {
      "", "v1", absl::StrCat("pods/", NameOf(object), "/binding"), "Binding"};
  const Json body = {{"apiVersion", "v1"},
                     {"kind", "Binding"},
                     {"metadata", {{"name", NameOf(object)}}},
                     {"target", {{"kind", "Node"}, {"name", "fake-node"}}}};
  const absl::Status status =
      client_->Create(binding, NamespaceOf(object), body).status();
  if (!status.ok()) log_(Json({{"wrong", status.ToString()}}).dump());
}

void FakeNode::Leave(const Json& object, const Control& control) {
  const int64_t seconds =
      NumberAt(object, "/metadata/deletionGracePeriodSeconds", 30);
  pods_[UidOf(object)].agent->Leave(
      std::min(control.grace, absl::Seconds(seconds)));
}

void FakeNode::Remove(const Json& object) {
  client_
      ->Delete(Pods(), NamespaceOf(object), NameOf(object),
               {.uid = UidOf(object), .grace_period = absl::ZeroDuration()})
      .IgnoreError();
}

void FakeNode::SetStatus(const Json& object, const Json& status) {
  const Json patch = {{"status", status}};
  const absl::Status done =
      client_
          ->MergePatch(Pods(), NamespaceOf(object),
                       absl::StrCat(NameOf(object), "/status"), patch)
          .status();
  if (!done.ok() && !absl::IsNotFound(done)) {
    log_(Json({{"wrong", done.ToString()}}).dump());
  }
}

std::string FakeNode::NextIp() {
  ++addresses_;
  return absl::StrCat("127.", options_.network, ".", addresses_ / 250, ".",
                      addresses_ % 250 + 1);
}

}  // namespace dynatrain::control
