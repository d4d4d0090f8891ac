#include "api/job/job.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;

constexpr char kTemplate[] =
    R"("template": {"spec": {"containers": [{"name": "t", "image": "i",
       "command": ["python", "train.py"]}]}})";

std::string SpecText(absl::string_view fields) {
  return absl::StrCat("{", fields, fields.empty() ? "" : ", ", kTemplate, "}");
}

TEST(JobSpecTest, DefaultsAreThoseOfTheSchema) {
  const auto spec = ParseJobSpec(SpecText(""));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->replicas, 1);
  EXPECT_EQ(spec->ranks_per_replica, 1);
  EXPECT_EQ(spec->elastic.min_replicas, 1);
  EXPECT_EQ(spec->elastic.max_replicas, 4096);
  EXPECT_EQ(spec->parallelism, Parallelism());
  EXPECT_EQ(spec->on_state_lost, OnStateLost::kFail);
  EXPECT_FALSE(spec->suspend);
}

TEST(JobSpecTest, ReadsEachField) {
  const auto spec = ParseJobSpec(SpecText(R"(
      "replicas": 3, "ranksPerReplica": 2, "onStateLost": "Restart",
      "suspend": true, "new": {"unknown": 1},
      "elasticPolicy": {"minReplicas": 2, "maxReplicas": 6,
        "infeasiblePolicy": "RoundDown", "scaleUpDelaySeconds": 5,
        "transitionTimeoutSeconds": 60, "stepTimeoutSeconds": 7},
      "model": {"heads": 12, "layers": 5, "experts": 8,
        "parameters": 671000000000},
      "parallelism": {"dp": {"min": 2}, "tp": 2, "pp": {"min": 1, "max": 4}})"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->replicas, 3);
  EXPECT_EQ(spec->ranks_per_replica, 2);
  EXPECT_EQ(spec->on_state_lost, OnStateLost::kRestart);
  EXPECT_TRUE(spec->suspend);
  EXPECT_EQ(spec->elastic.min_replicas, 2);
  EXPECT_EQ(spec->elastic.max_replicas, 6);
  EXPECT_EQ(spec->elastic.infeasible_policy, InfeasiblePolicy::kRoundDown);
  EXPECT_EQ(spec->elastic.scale_up_delay, absl::Seconds(5));
  EXPECT_EQ(spec->elastic.transition_timeout, absl::Seconds(60));
  EXPECT_EQ(spec->elastic.step_timeout, absl::Seconds(7));
  EXPECT_EQ(spec->parallelism.dp, (AxisRange{2, AxisRange::kNoLimit}));
  EXPECT_EQ(spec->parallelism.tp, (AxisRange{2, 2}));
  EXPECT_EQ(spec->parallelism.pp, (AxisRange{1, 4}));
  EXPECT_EQ(spec->parallelism.model, (ModelFacts{12, 5, 8, 671'000'000'000}));
}

TEST(JobSpecTest, ErrorsNameFieldValueAndWhatIsRight) {
  const struct {
    std::string spec;
    const char* message;
  } cases[] = {
      {"[]", "spec: [] is not an object"},
      {"nonsense", "spec: not JSON"},
      {SpecText(R"("replicas": "3")"),
       "spec.replicas: \"3\" is not an integer"},
      {SpecText(R"("replicas": 5000)"), "spec.replicas: 5000"},
      {SpecText(R"("replicas": 9, "elasticPolicy": {"maxReplicas": 4})"),
       "spec.replicas: 9 is outside elasticPolicy's minReplicas 1 to "
       "maxReplicas 4"},
      {SpecText(R"("elasticPolicy": {"minReplicas": 3, "maxReplicas": 2})"),
       "spec.elasticPolicy.minReplicas: 3 is above maxReplicas, 2"},
      {SpecText(R"("elasticPolicy": {"infeasiblePolicy": "Maybe"})"),
       "spec.elasticPolicy.infeasiblePolicy: \"Maybe\" is not one of Reject, "
       "RoundDown"},
      {SpecText(R"("parallelism": {"tp": 0})"),
       "spec.parallelism.tp: 0 is not an integer in [1, 65536]"},
      {SpecText(R"("parallelism": {"tp": {"min": 4, "max": 2}})"),
       "spec.parallelism.tp.min: 4 is above max, 2"},
      {SpecText(R"("model": {"heads": 0})"),
       "spec.model.heads: 0 is not an integer in [1, 65536]"},
      {SpecText(R"("onStateLost": "Cry")"), "spec.onStateLost: \"Cry\""},
      {R"({"replicas": 1})", "spec.template.spec.containers"},
      {R"({"template": {"spec": {"containers": [{"name": "t"}]}}})",
       "spec.template.spec.containers[0].command: null is not a list of texts"},
      {R"({"template": {"spec": {"restartPolicy": "Always",
          "containers": [{"command": ["x"]}]}}})",
       "spec.template.spec.restartPolicy: \"Always\" is not Never"},
  };
  for (const auto& test : cases) {
    const auto spec = ParseJobSpec(test.spec);
    EXPECT_THAT(std::string(spec.status().message()), HasSubstr(test.message))
        << test.spec;
  }
}

// Each field differs from its default, so that one that a codec forgets shows.
JobStatus FullStatus() {
  const absl::Time t = absl::FromUnixMillis(1767225600123);
  JobStatus status;
  status.observed_generation = 1;
  status.phase = "Resizing";
  status.reason = "why";
  status.replicas = 2;
  status.target_replicas = 3;
  status.ready = "2/3";
  status.selector = "a=b";
  status.feasible_replicas = "1, 2";
  status.generation = 4;
  status.layout = {"dp2,tp1,pp1", "because", 2};
  status.members = "0-1";
  status.manifest_digest = "aa";
  status.step = 5;
  status.loss = "2.5";
  status.progress_time = t;
  status.next_serial = 6;
  status.first_serial = 1;
  status.restarts = 2;
  status.operator_term = 7;
  status.agent_image = "image";
  status.transition = TransitionStatus{
      "id",          5,        "scale-up", "dp2,tp1,pp1",
      "dp3,tp1,pp1", "reason", "0-1",      "0-2",
      "Planned",     "digest", t,          t + absl::Seconds(1),
      "message"};
  status.history = {HistoryEntry{4, "scale-up", "Released", "a", "b", 1, 2, 3,
                                 4, t, "summary"}};
  status.retry = RetryStatus{"target", 2, t, "reason"};
  status.pod_failures = PodFailures{1, 9, t, "message"};
  status.conditions = {Condition{"Running", true, "Reason", "message", 3,
                                 absl::FromUnixSeconds(1767225600)}};
  return status;
}

TEST(JobStatusTest, TextAndBackIsTheSame) {
  for (const JobStatus& status : {JobStatus(), FullStatus()}) {
    const auto read = ParseJobStatus(ToJson(status));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, status) << ToJson(*read);
  }
}

TEST(JobStatusTest, NothingToSayIsLeftOut) {
  EXPECT_EQ(ToJson(JobStatus()), R"({"replicas":0})");
}

TEST(JobStatusTest, WhatIsReadBackIsChecked) {
  for (const char* text :
       {R"({"members": "a"})", R"({"layout": {"text": "dp0"}})",
        R"({"transition": {"to": "up"}})",
        R"({"transition": {"toMembers": "2-1"}})",
        R"({"transition": {"phase": "Dancing"}})", R"({"conditions": {}})",
        R"({"generation": -1})"}) {
    EXPECT_FALSE(ParseJobStatus(text).ok()) << text;
  }
}

TEST(JobTest, ABadSpecLeavesTheJobReadable) {
  const auto job = ParseJob(R"({
      "metadata": {"name": "gpt", "namespace": "ns", "uid": "u",
                   "generation": 2, "resourceVersion": "17"},
      "spec": {"replicas": -1}, "status": {"generation": 3}})");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->metadata.name, "gpt");
  EXPECT_EQ(job->metadata.resource_version, "17");
  EXPECT_EQ(job->status.generation, 3);
  EXPECT_FALSE(job->spec.ok());
}

TEST(JobTest, RefusesWhatIsNoJob) {
  for (const char* text :
       {"", "1", "{}", R"({"metadata": {"name": "x"}})",
        R"({"metadata": {"name": "x", "uid": "u"}, "status": 3})"}) {
    EXPECT_FALSE(ParseJob(text).ok()) << text;
  }
}

}  // namespace
}  // namespace dynatrain::api
