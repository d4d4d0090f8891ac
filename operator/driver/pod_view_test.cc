#include "operator/driver/pod_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;

Json Pod() {
  return Json::parse(R"({
    "metadata": {"name": "gpt-3", "namespace": "n", "uid": "p",
      "labels": {"dynatrain.io/job": "gpt", "dynatrain.io/serial": "3"},
      "annotations": {"big": "text"}, "managedFields": [{}],
      "ownerReferences": [{"uid": "other"}, {"uid": "j", "controller": true}]},
    "spec": {"nodeName": "node-1", "volumes": [],
      "containers": [{"name": "main", "image": "x"}, {"name": "side"}]},
    "status": {"phase": "Running", "podIP": "10.0.0.7",
      "containerStatuses": [
        {"name": "side", "state": {"terminated": {"exitCode": 9}}},
        {"name": "main",
         "state": {"running": {"startedAt": "2026-03-01T12:00:00Z"}}}]}
  })");
}

TEST(PodViewTest, ReadsARunningPod) {
  const PodView view = PodViewOf(Pod()).value();
  EXPECT_EQ(view.name, "gpt-3");
  EXPECT_EQ(view.serial, 3u);
  EXPECT_EQ(view.ip, "10.0.0.7");
  EXPECT_EQ(view.node, "node-1");
  EXPECT_EQ(view.phase, PodPhase::kRunning);
  EXPECT_TRUE(view.started.has_value());
  EXPECT_FALSE(view.ended());
  EXPECT_EQ(view.message, "");
  EXPECT_EQ(OwnerUidOf(Pod()), "j");
}

TEST(PodViewTest, TrimmingChangesNothingThatIsRead) {
  Json trimmed = Pod();
  TrimPod(trimmed);
  EXPECT_LT(trimmed.dump().size(), Pod().dump().size());
  EXPECT_EQ(PodViewOf(trimmed)->started, PodViewOf(Pod())->started);
  EXPECT_EQ(PodViewOf(trimmed)->node, "node-1");
  EXPECT_EQ(OwnerUidOf(trimmed), "j");
}

TEST(PodViewTest, AnEmptyPodIsPending) {
  Json pod = {{"metadata", {{"labels", {{"dynatrain.io/serial", "0"}}}}}};
  TrimPod(pod);
  const PodView view = PodViewOf(pod).value();
  EXPECT_EQ(view.phase, PodPhase::kPending);
  EXPECT_EQ(view.ip, "");
}

TEST(PodViewTest, ASerialThatIsNoNumberIsRefused) {
  for (const Json& label : {Json("x"), Json("-1"), Json(3), Json("")}) {
    Json pod = Pod();
    pod["metadata"]["labels"]["dynatrain.io/serial"] = label;
    EXPECT_EQ(PodViewOf(pod).status().code(),
              absl::StatusCode::kInvalidArgument)
        << label;
  }
}

TEST(PodViewTest, SaysWhyAPodDoesNotRun) {
  Json pod = Pod();
  Json& main = pod["status"]["containerStatuses"][1];
  main["state"] = {{"waiting", {{"reason", "ContainerCreating"}}}};
  EXPECT_EQ(PodViewOf(pod)->message, "");
  main["state"] = {
      {"waiting", {{"reason", "ImagePullBackOff"}, {"message", "no such"}}}};
  EXPECT_EQ(PodViewOf(pod)->message, "ImagePullBackOff: no such");
  main["state"] = {
      {"terminated", {{"exitCode", 137}, {"reason", "OOMKilled"}}}};
  EXPECT_EQ(PodViewOf(pod)->message, "OOMKilled");
  EXPECT_EQ(PodViewOf(pod)->exit_code, 137);
  main["state"] = {{"terminated", {{"exitCode", 3}, {"reason", "Error"}}}};
  EXPECT_EQ(PodViewOf(pod)->message, "");
  EXPECT_EQ(PodViewOf(pod)->exit_code, 3);
  pod["status"]["initContainerStatuses"] = {
      {{"name", "dynatrain-agent"},
       {"state", {{"terminated", {{"exitCode", 1}, {"reason", "Error"}}}}}}};
  EXPECT_EQ(PodViewOf(pod)->message,
            "init container dynatrain-agent: exit code 1");
  pod["status"]["initContainerStatuses"] = {
      {{"name", "dynatrain-agent"},
       {"state", {{"waiting", {{"reason", "ErrImageNeverPull"}}}}}}};
  EXPECT_EQ(PodViewOf(pod)->message,
            "init container dynatrain-agent: ErrImageNeverPull");
  pod["status"]["reason"] = "Evicted";
  EXPECT_EQ(PodViewOf(pod)->message, "Evicted");
}

TEST(PodViewTest, ReadsSchedulingDisruptionAndDeletion) {
  Json pod = Pod();
  pod["status"]["conditions"] = {
      {{"type", "PodScheduled"},
       {"status", "False"},
       {"message", "0/3 nodes are available"}},
      {{"type", "DisruptionTarget"},
       {"status", "True"},
       {"reason", "EvictionByEvictionAPI"},
       {"lastTransitionTime", "2026-03-01T12:00:00Z"}}};
  pod["metadata"]["deletionTimestamp"] = "2026-03-01T12:02:00Z";
  const PodView view = PodViewOf(pod).value();
  EXPECT_THAT(view.unschedulable, HasSubstr("0/3"));
  EXPECT_EQ(view.disruption, "EvictionByEvictionAPI");
  EXPECT_EQ(view.disruption_time, absl::FromUnixSeconds(1772366400));
  EXPECT_EQ(view.deletion_time, absl::FromUnixSeconds(1772366520));
}

TEST(PodViewTest, OddTypesNeverThrow) {
  for (
      const char* text :
      {R"({"metadata":{"labels":{"dynatrain.io/serial":"1"},"ownerReferences":{}},
           "spec":{"containers":7},"status":{"conditions":"x",
           "containerStatuses":{},"initContainerStatuses":[1,null]}})",
       R"({"metadata":{"labels":{"dynatrain.io/serial":"1"}},"spec":[],
           "status":[]})"}) {
    Json pod = Json::parse(text);
    TrimPod(pod);
    EXPECT_TRUE(PodViewOf(pod).ok());
    EXPECT_EQ(OwnerUidOf(pod), "");
  }
}

}  // namespace
}  // namespace dynatrain::control
