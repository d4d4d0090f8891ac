#include "operator/reconcile/pod.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace dynatrain::control {
namespace {

using Json = nlohmann::json;

constexpr char kTemplate[] = R"({
  "metadata": {"labels": {"team": "nlp"}, "annotations": {"a": "b"}},
  "spec": {
    "securityContext": {"runAsUser": 1000},
    "initContainers": [{"name": "fetch", "image": "f"}],
    "containers": [
      {"name": "train", "image": "pytorch", "command": ["python"],
       "args": ["train.py", "--fast"], "env": [{"name": "X", "value": "1"}],
       "resources": {"limits": {"memory": "1Gi"}}},
      {"name": "sidecar", "image": "s"}],
    "volumes": [{"name": "data", "emptyDir": {}}]}})";

api::JobMetadata Job() {
  api::JobMetadata job;
  job.namespace_name = "research";
  job.name = "gpt";
  job.uid = "11111111-2222-3333-4444-555555555555";
  return job;
}

Json Make(const std::string& pod_template) {
  api::JobSpec spec;
  spec.ranks_per_replica = 2;
  spec.pod_template = pod_template;
  const PodOptions options{"agent:1", 7070};
  return Json::parse(MakePod(Job(), spec, 3, options));
}

std::string Golden() {
  std::ifstream file("operator/reconcile/testdata/pod.json");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// tests/crd creates the same file on a real API server. After a change that is
// meant: DYNATRAIN_WRITE_GOLDEN=$PWD/operator/reconcile/testdata/pod.json
//   bazel-bin/operator/reconcile/pod_test
TEST(PodTest, IsTheGoldenOne) {
  const std::string text = Make(kTemplate).dump(2) + "\n";
  if (const char* path = std::getenv("DYNATRAIN_WRITE_GOLDEN")) {
    std::ofstream(path) << text;
  }
  EXPECT_EQ(text, Golden());
}

TEST(PodTest, AMinimalTemplateIsEnough) {
  const Json pod = Make(
      R"({"spec": {"containers": [{"name": "t", "command": ["x", "-y"]}]}})");
  EXPECT_EQ(pod["spec"]["containers"][0]["command"].dump(),
            R"(["/dynatrain/dynatrain-agent","run","--","x","-y"])");
  EXPECT_EQ(pod["metadata"]["name"], "gpt-3");
}

TEST(PodTest, GraceIsAtLeastTwoMinutes) {
  const auto grace = [](const std::string& fields) {
    const Json pod = Make(R"({"spec": {"containers": [{"name": "t", "command":
        ["x"]}])" + fields +
                          "}}");
    return pod["spec"]["terminationGracePeriodSeconds"].get<int>();
  };
  EXPECT_EQ(grace(""), 120);
  EXPECT_EQ(grace(R"(, "terminationGracePeriodSeconds": 30)"), 120);
  EXPECT_EQ(grace(R"(, "terminationGracePeriodSeconds": 600)"), 600);
}

TEST(PodTest, NobodyElsesLabelsAreSelected) {
  EXPECT_EQ(PodSelector(Job()), "dynatrain.io/job=gpt");
  EXPECT_EQ(Make(kTemplate)["metadata"]["labels"][kJobLabel], "gpt");
}

}  // namespace
}  // namespace dynatrain::control
