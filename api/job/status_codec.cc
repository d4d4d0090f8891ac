#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/job/job.h"
#include "api/job/serials.h"
#include "api/json/reader.h"
#include "base/status_macros.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMost = INT64_MAX;
constexpr int kMostInt = INT32_MAX;

// Of a transition. The first is what an absent phase is.
const std::vector<std::string> kPhases = {"Planned",  "Draining", "Committed",
                                          "Released", "Aborted",  "Superseded"};

// Milliseconds are enough for people and survive the round trip.
std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

// Conditions are read by tools that want metav1.Time: whole seconds.
std::string ConditionTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

// An empty text, 0 and an unset time are left out, so that `kubectl describe`
// shows only what says something.
class Writer {
 public:
  Writer& Text(const char* key, const std::string& value) {
    if (!value.empty()) json_[key] = value;
    return *this;
  }
  template <typename T>
  Writer& Number(const char* key, T value) {
    if (value != 0) json_[key] = value;
    return *this;
  }
  Writer& Time(const char* key, absl::Time value) {
    if (value != absl::UnixEpoch()) json_[key] = TimeText(value);
    return *this;
  }
  Writer& Object(const char* key, Json value) {
    if (!value.empty()) json_[key] = std::move(value);
    return *this;
  }
  Json Take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

// What the operator reads back must be readable: a person may have edited it.
std::string ReadSerials(ObjectReader& reader, absl::string_view key) {
  const std::string text = reader.Text(key);
  if (ParseSerials(text).ok()) return text;
  reader.Refuse(key, "is no list of serials like \"0-2,5\"");
  return "";
}

std::string ReadLayoutText(ObjectReader& reader, absl::string_view key) {
  const std::string text = reader.Text(key);
  if (text.empty() || vps::AxisSizes::Parse(text).ok()) return text;
  reader.Refuse(key, "is no layout like \"dp2,tp2,pp1\"");
  return "";
}

Json ToJson(const Condition& condition) {
  return Json{
      {"type", condition.type},
      {"status", condition.status ? "True" : "False"},
      {"reason", condition.reason},
      {"message", condition.message},
      {"observedGeneration", condition.observed_generation},
      {"lastTransitionTime", ConditionTimeText(condition.last_transition)}};
}

Condition ReadCondition(ObjectReader& reader) {
  Condition out;
  out.type = reader.Text("type");
  out.status = reader.Text("status") == "True";
  out.reason = reader.Text("reason");
  out.message = reader.Text("message");
  out.observed_generation = reader.Int("observedGeneration", 0, kMost, 0);
  out.last_transition = reader.Time("lastTransitionTime");
  return out;
}

Json ToJson(const LayoutStatus& layout) {
  return Writer()
      .Text("text", layout.text)
      .Text("reason", layout.reason)
      .Number("worldSize", layout.world_size)
      .Take();
}

LayoutStatus ReadLayout(ObjectReader& reader) {
  LayoutStatus out;
  out.text = ReadLayoutText(reader, "text");
  out.reason = reader.Text("reason");
  out.world_size = reader.Int("worldSize", 0, kMostInt, 0);
  return out;
}

Json ToJson(const TransitionStatus& transition) {
  return Writer()
      .Text("id", transition.id)
      .Number("generation", transition.generation)
      .Text("cause", transition.cause)
      .Text("from", transition.from)
      .Text("to", transition.to)
      .Text("reason", transition.reason)
      .Text("fromMembers", transition.from_members)
      .Text("toMembers", transition.to_members)
      .Text("phase", transition.phase)
      .Text("planDigest", transition.plan_digest)
      .Time("startTime", transition.start_time)
      .Time("phaseTime", transition.phase_time)
      .Text("message", transition.message)
      .Take();
}

TransitionStatus ReadTransition(ObjectReader& reader) {
  TransitionStatus out;
  out.id = reader.Text("id");
  out.generation = reader.Int("generation", 0, kMost, 0);
  out.cause = reader.Text("cause");
  out.from = ReadLayoutText(reader, "from");
  out.to = ReadLayoutText(reader, "to");
  out.reason = reader.Text("reason");
  out.from_members = ReadSerials(reader, "fromMembers");
  out.to_members = ReadSerials(reader, "toMembers");
  out.phase = kPhases[reader.Choice("phase", kPhases)];
  out.plan_digest = reader.Text("planDigest");
  out.start_time = reader.Time("startTime");
  out.phase_time = reader.Time("phaseTime");
  out.message = reader.Text("message");
  return out;
}

Json ToJson(const HistoryEntry& entry) {
  return Writer()
      .Number("generation", entry.generation)
      .Text("cause", entry.cause)
      .Text("outcome", entry.outcome)
      .Text("from", entry.from)
      .Text("to", entry.to)
      .Number("movedBytes", entry.moved_bytes)
      .Number("minimalBytes", entry.minimal_bytes)
      .Number("transferMs", entry.transfer_ms)
      .Number("pauseMs", entry.pause_ms)
      .Time("time", entry.time)
      .Text("summary", entry.summary)
      .Take();
}

HistoryEntry ReadHistoryEntry(ObjectReader& reader) {
  HistoryEntry out;
  out.generation = reader.Int("generation", 0, kMost, 0);
  out.cause = reader.Text("cause");
  out.outcome = reader.Text("outcome");
  out.from = reader.Text("from");
  out.to = reader.Text("to");
  out.moved_bytes = reader.Int("movedBytes", 0, kMost, 0);
  out.minimal_bytes = reader.Int("minimalBytes", 0, kMost, 0);
  out.transfer_ms = reader.Int("transferMs", 0, kMost, 0);
  out.pause_ms = reader.Int("pauseMs", 0, kMost, 0);
  out.time = reader.Time("time");
  out.summary = reader.Text("summary");
  return out;
}

Json ToJson(const RetryStatus& retry) {
  return Writer()
      .Text("target", retry.target)
      .Number("attempts", retry.attempts)
      .Time("after", retry.after)
      .Text("reason", retry.reason)
      .Take();
}

RetryStatus ReadRetry(ObjectReader& reader) {
  RetryStatus out;
  out.target = reader.Text("target");
  out.attempts = reader.Int("attempts", 0, kMostInt, 0);
  out.after = reader.Time("after");
  out.reason = reader.Text("reason");
  return out;
}

Json ToJson(const PodFailures& failures) {
  return Writer()
      .Number("count", failures.count)
      .Number("serial", failures.serial)
      .Time("last", failures.last)
      .Text("message", failures.message)
      .Take();
}

PodFailures ReadPodFailures(ObjectReader& reader) {
  PodFailures out;
  out.count = reader.Int("count", 0, kMostInt, 0);
  out.serial = reader.Int("serial", 0, UINT32_MAX, 0);
  out.last = reader.Time("last");
  out.message = reader.Text("message");
  return out;
}

// Reads the nested object `key` with `read`, if it is there.
template <typename T>
std::optional<T> ReadOptional(ObjectReader& parent, absl::string_view key,
                              T (*read)(ObjectReader&)) {
  if (!parent.Has(key)) return std::nullopt;
  ObjectReader reader = parent.Object(key);
  T value = read(reader);
  parent.Merge(reader.status());
  return value;
}

template <typename T>
std::vector<T> ReadList(ObjectReader& parent, absl::string_view key,
                        T (*read)(ObjectReader&)) {
  std::vector<T> out;
  for (ObjectReader& reader : parent.List(key)) {
    out.push_back(read(reader));
    parent.Merge(reader.status());
  }
  return out;
}

template <typename T>
Json ListToJson(const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(ToJson(value));
  return out;
}

void ReadCounters(ObjectReader& reader, JobStatus& out) {
  out.observed_generation = reader.Int("observedGeneration", 0, kMost, 0);
  out.replicas = reader.Int("replicas", 0, kMostInt, 0);
  out.target_replicas = reader.Int("targetReplicas", 0, kMostInt, 0);
  out.generation = reader.Int("generation", 0, kMost, 0);
  out.step = reader.Int("step", 0, kMost, 0);
  out.next_serial = reader.Int("nextSerial", 0, UINT32_MAX, 0);
  out.first_serial = reader.Int("firstSerial", 0, UINT32_MAX, 0);
  out.restarts = reader.Int("restarts", 0, kMostInt, 0);
  out.operator_term = reader.Int("operatorTerm", 0, kMost, 0);
}

void ReadTexts(ObjectReader& reader, JobStatus& out) {
  out.phase = reader.Text("phase");
  out.reason = reader.Text("reason");
  out.ready = reader.Text("ready");
  out.selector = reader.Text("selector");
  out.feasible_replicas = reader.Text("feasibleReplicas");
  out.members = ReadSerials(reader, "members");
  out.manifest_digest = reader.Text("manifestDigest");
  out.loss = reader.Text("loss");
  out.progress_time = reader.Time("progressTime");
  out.agent_image = reader.Text("agentImage");
}

}  // namespace

absl::StatusOr<JobStatus> ParseJobStatus(absl::string_view json) {
  ASSIGN_OR_RETURN(const Json value, ParseJson(json), "status");
  ObjectReader reader(value, "status");
  JobStatus out;
  ReadCounters(reader, out);
  ReadTexts(reader, out);
  if (auto layout = ReadOptional(reader, "layout", ReadLayout)) {
    out.layout = *std::move(layout);
  }
  out.transition = ReadOptional(reader, "transition", ReadTransition);
  out.retry = ReadOptional(reader, "retry", ReadRetry);
  out.pod_failures = ReadOptional(reader, "podFailures", ReadPodFailures);
  out.history = ReadList(reader, "history", ReadHistoryEntry);
  out.conditions = ReadList(reader, "conditions", ReadCondition);
  RETURN_IF_ERROR(reader.status());
  return out;
}

std::string ToJson(const JobStatus& status) {
  Writer writer;
  writer.Number("observedGeneration", status.observed_generation)
      .Text("phase", status.phase)
      .Text("reason", status.reason)
      .Number("targetReplicas", status.target_replicas)
      .Text("ready", status.ready)
      .Text("selector", status.selector)
      .Text("feasibleReplicas", status.feasible_replicas)
      .Number("generation", status.generation)
      .Object("layout", ToJson(status.layout))
      .Text("members", status.members)
      .Text("manifestDigest", status.manifest_digest)
      .Number("step", status.step)
      .Text("loss", status.loss)
      .Time("progressTime", status.progress_time)
      .Number("nextSerial", status.next_serial)
      .Number("firstSerial", status.first_serial)
      .Number("restarts", status.restarts)
      .Number("operatorTerm", status.operator_term)
      .Text("agentImage", status.agent_image)
      .Object("history", ListToJson(status.history))
      .Object("conditions", ListToJson(status.conditions));
  if (status.transition) {
    writer.Object("transition", ToJson(*status.transition));
  }
  if (status.retry) writer.Object("retry", ToJson(*status.retry));
  if (status.pod_failures) {
    writer.Object("podFailures", ToJson(*status.pod_failures));
  }
  Json json = writer.Take();
  // The scale subresource wants it always.
  json["replicas"] = status.replicas;
  return DumpJson(json);
}

}  // namespace dynatrain::api
