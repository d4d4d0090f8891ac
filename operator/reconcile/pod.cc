#include "operator/reconcile/pod.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace dynatrain::control {
namespace {

using Json = nlohmann::json;

constexpr char kVolume[] = "dynatrain";
constexpr char kMount[] = "/dynatrain";
constexpr int kMinGraceSeconds = 120;

// The user's list `key`, to append to.
Json& List(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

Json Metadata(const api::JobMetadata& job, const Json& user, uint32_t serial) {
  Json metadata = user.is_object() ? user : Json::object();
  metadata["name"] = PodName(job, serial);
  metadata["namespace"] = job.namespace_name;
  metadata["labels"][kJobLabel] = job.name;
  metadata["labels"][kSerialLabel] = absl::StrCat(serial);
  metadata["ownerReferences"] = Json::array(
      {{{"apiVersion", absl::StrCat(std::string(api::kJobGroup), "/",
                                    std::string(api::kJobVersion))},
        {"kind", std::string(api::kJobKind)},
        {"name", job.name},
        {"uid", job.uid},
        {"controller", true},
        {"blockOwnerDeletion", true}}});
  return metadata;
}

// Brings the agent, the runtime library and the Python package. Fit for a
// namespace that enforces the restricted pod security standard.
Json InitContainer(const PodOptions& options) {
  return {{"name", "dynatrain-agent"},
          {"image", options.agent_image},
          {"imagePullPolicy", "IfNotPresent"},
          {"command", {"/dynatrain-agent", "install", kMount}},
          {"volumeMounts",
           Json::array({{{"name", kVolume}, {"mountPath", kMount}}})},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", Json::array({"ALL"})}}}}}};
}

void AppendEnvironment(Json& container, const api::JobMetadata& job,
                       const api::JobSpec& spec, uint32_t serial,
                       int64_t grace_seconds, const PodOptions& options) {
  Json& env = List(container, "env");
  const auto set = [&](const char* name, const std::string& value) {
    env.push_back({{"name", name}, {"value", value}});
  };
  set("DYNATRAIN_JOB", job.name);
  set("DYNATRAIN_NAMESPACE", job.namespace_name);
  set("DYNATRAIN_JOB_UID", job.uid);
  set("DYNATRAIN_SERIAL", absl::StrCat(serial));
  set("DYNATRAIN_RANKS_PER_REPLICA", absl::StrCat(spec.ranks_per_replica));
  set("DYNATRAIN_GRACE_SECONDS", absl::StrCat(grace_seconds));
  set("DYNATRAIN_AGENT_PORT", absl::StrCat(options.agent_port));
  set("DYNATRAIN_KEY", "");
  env.push_back(
      {{"name", "DYNATRAIN_POD_IP"},
       {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}});
}

// The agent runs the user's command line as its children.
Json CommandLine(const Json& container) {
  Json line = {"/dynatrain/dynatrain-agent", "run", "--"};
  for (const char* key : {"command", "args"}) {
    const auto words = container.find(key);
    if (words == container.end() || !words->is_array()) continue;
    line.insert(line.end(), words->begin(), words->end());
  }
  return line;
}

void PutAgentIn(Json& container, const api::JobMetadata& job,
                const api::JobSpec& spec, uint32_t serial,
                int64_t grace_seconds, const PodOptions& options) {
  container["command"] = CommandLine(container);
  container.erase("args");
  AppendEnvironment(container, job, spec, serial, grace_seconds, options);
  List(container, "ports")
      .push_back(
          {{"name", "dynatrain"}, {"containerPort", options.agent_port}});
  List(container, "volumeMounts")
      .push_back({{"name", kVolume}, {"mountPath", kMount}});
}

int64_t GraceSeconds(const Json& pod_spec) {
  const auto grace = pod_spec.find("terminationGracePeriodSeconds");
  if (grace == pod_spec.end() || !grace->is_number_integer()) {
    return kMinGraceSeconds;
  }
  return std::max<int64_t>(kMinGraceSeconds, grace->get<int64_t>());
}

}  // namespace

std::string PodName(const api::JobMetadata& job, uint32_t serial) {
  return absl::StrCat(job.name, "-", serial);
}

std::string PodSelector(const api::JobMetadata& job) {
  return absl::StrCat(kJobLabel, "=", job.name);
}

std::string MakePod(const api::JobMetadata& job, const api::JobSpec& spec,
                    uint32_t serial, const PodOptions& options) {
  const Json user = Json::parse(spec.pod_template);
  Json pod_spec = user.at("spec");
  const int64_t grace_seconds = GraceSeconds(pod_spec);
  PutAgentIn(pod_spec.at("containers").at(0), job, spec, serial, grace_seconds,
             options);
  Json& init = List(pod_spec, "initContainers");
  init.insert(init.begin(), InitContainer(options));
  List(pod_spec, "volumes")
      .push_back({{"name", kVolume}, {"emptyDir", Json::object()}});
  pod_spec["restartPolicy"] = "Never";
  pod_spec["automountServiceAccountToken"] = false;
  pod_spec["terminationGracePeriodSeconds"] = grace_seconds;
  const Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", Metadata(job, user.value("metadata", Json()), serial)},
      {"spec", std::move(pod_spec)}};
  return pod.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dynatrain::control
