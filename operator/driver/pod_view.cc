#include "operator/driver/pod_view.h"

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "operator/kube/time_text.h"
#include "operator/reconcile/pod.h"

namespace dynatrain::control {
namespace {

PodPhase PhaseOf(const Json& pod) {
  const std::string phase = TextAt(pod, "/status/phase", "Pending");
  if (phase == "Pending") return PodPhase::kPending;
  if (phase == "Running") return PodPhase::kRunning;
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  if (phase == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

const Json& Condition(const Json& pod, const char* type) {
  static const auto* const kNone = new Json();
  const Json& conditions = At(pod, "/status/conditions");
  if (!conditions.is_array()) return *kNone;
  for (const Json& condition : conditions) {
    if (TextAt(condition, "/type") == type) return condition;
  }
  return *kNone;
}

// The status of the container called `name` in list `list`.
const Json& Container(const Json& pod, const char* list,
                      const std::string& name) {
  static const auto* const kNone = new Json();
  const Json& statuses = At(pod, list);
  if (!statuses.is_array()) return *kNone;
  for (const Json& status : statuses) {
    if (TextAt(status, "/name") == name) return status;
  }
  return *kNone;
}

std::string Join(const std::string& reason, const std::string& message) {
  if (reason.empty() || message.empty()) return reason + message;
  return absl::StrCat(reason, ": ", message);
}

// Why a container waits or ended; "" if it runs or ended well, or if its exit
// code says it all.
std::string Trouble(const Json& container) {
  const std::string waiting = TextAt(container, "/state/waiting/reason");
  if (!waiting.empty()) {
    // What every container goes through is no trouble.
    if (waiting == "ContainerCreating" || waiting == "PodInitializing") {
      return "";
    }
    return Join(waiting, TextAt(container, "/state/waiting/message"));
  }
  const Json& ended = At(container, "/state/terminated");
  if (!ended.is_object() || NumberAt(ended, "/exitCode") == 0) return "";
  const std::string reason = TextAt(ended, "/reason");
  return Join(reason == "Error" ? "" : reason, TextAt(ended, "/message"));
}

std::string MessageOf(const Json& pod, const Json& training) {
  const std::string of_pod =
      Join(TextAt(pod, "/status/reason"), TextAt(pod, "/status/message"));
  if (!of_pod.empty()) return of_pod;
  const Json& inits = At(pod, "/status/initContainerStatuses");
  if (inits.is_array()) {
    for (const Json& init : inits) {
      std::string trouble = Trouble(init);
      const int64_t code = NumberAt(init, "/state/terminated/exitCode");
      if (trouble.empty() && code == 0) continue;
      if (trouble.empty()) trouble = absl::StrCat("exit code ", code);
      return absl::StrCat("init container ", TextAt(init, "/name"), ": ",
                          trouble);
    }
  }
  return Trouble(training);
}

std::optional<absl::Time> TimeAt(const Json& object, const char* path) {
  const absl::StatusOr<absl::Time> time = ParseTimeText(TextAt(object, path));
  if (!time.ok()) return std::nullopt;
  return *time;
}

std::string FirstContainerName(const Json& pod) {
  const Json& containers = At(pod, "/spec/containers");
  if (!containers.is_array() || containers.empty()) return "";
  return TextAt(containers[0], "/name");
}

}  // namespace

std::string LabelOf(const Json& object, const std::string& label) {
  const Json& labels = At(object, "/metadata/labels");
  if (!labels.is_object()) return "";
  const auto it = labels.find(label);
  return it == labels.end() || !it->is_string() ? "" : it->get<std::string>();
}

std::string OwnerUidOf(const Json& object) {
  const Json& owners = At(object, "/metadata/ownerReferences");
  if (!owners.is_array()) return "";
  for (const Json& owner : owners) {
    const Json& controller = At(owner, "/controller");
    if (controller.is_boolean() && controller.get<bool>()) {
      return TextAt(owner, "/uid");
    }
  }
  return "";
}

absl::StatusOr<PodView> PodViewOf(const Json& pod) {
  PodView view;
  view.name = NameOf(pod);
  const std::string serial = LabelOf(pod, kSerialLabel);
  if (!absl::SimpleAtoi(serial, &view.serial)) {
    return absl::InvalidArgumentError(
        absl::StrCat("pod ", view.name, " has label ", kSerialLabel, "=\"",
                     serial, "\", which should be a number"));
  }
  view.uid = UidOf(pod);
  view.phase = PhaseOf(pod);
  view.ip = TextAt(pod, "/status/podIP");
  view.node = TextAt(pod, "/spec/nodeName");
  const Json& scheduled = Condition(pod, "PodScheduled");
  if (TextAt(scheduled, "/status") == "False") {
    view.unschedulable = TextAt(scheduled, "/message", "not schedulable");
  }
  view.deletion_time = TimeAt(pod, "/metadata/deletionTimestamp");
  const Json& disruption = Condition(pod, "DisruptionTarget");
  if (TextAt(disruption, "/status") == "True") {
    view.disruption = TextAt(disruption, "/reason", "DisruptionTarget");
    view.disruption_time = TimeAt(disruption, "/lastTransitionTime")
                               .value_or(absl::InfinitePast());
  }
  const Json& training =
      Container(pod, "/status/containerStatuses", FirstContainerName(pod));
  view.started = TimeAt(training, "/state/running/startedAt");
  const Json& ended = At(training, "/state/terminated");
  if (ended.is_object()) {
    view.started = TimeAt(ended, "/startedAt");
    view.exit_code = static_cast<int>(NumberAt(ended, "/exitCode"));
  }
  view.message = MessageOf(pod, training);
  return view;
}

void TrimPod(Json& pod) {
  if (!pod.is_object() || !pod.contains("metadata")) return;
  pod["metadata"].erase("managedFields");
  pod["metadata"].erase("annotations");
  if (!pod.contains("spec") || !pod["spec"].is_object()) return;
  Json spec = Json::object();
  const std::string node = TextAt(pod, "/spec/nodeName");
  if (!node.empty()) spec["nodeName"] = node;
  spec["containers"] = Json::array({{{"name", FirstContainerName(pod)}}});
  pod["spec"] = std::move(spec);
}

}  // namespace dynatrain::control
