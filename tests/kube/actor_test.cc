// The rules of operator/reconcile/action.h, against an API server and agents
// that answer as each test says.
#include "operator/driver/actor.h"

#include <memory>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/agents/scripted_agent.h"
#include "operator/kube/http_client.h"
#include "tests/kube/fake_api_server.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kPodBody[] = R"({"metadata":{"name":"gpt-0"},"spec":{
  "containers":[{"name":"main","env":[{"name":"DYNATRAIN_KEY","value":""}]}]}})";

Json PodObject(const std::string& owner, const std::string& version) {
  return {{"metadata",
           {{"namespace", "n"},
            {"name", "gpt-0"},
            {"resourceVersion", version},
            {"labels", {{"dynatrain.io/serial", "0"}}},
            {"ownerReferences",
             Json::array({{{"uid", owner}, {"controller", true}}})}}}};
}

Json JobObject(const std::string& version, const Json& status) {
  return {{"apiVersion", "dynatrain.io/v1alpha1"},
          {"kind", "ElasticTrainingJob"},
          {"metadata",
           {{"namespace", "n"},
            {"name", "gpt"},
            {"uid", "uid"},
            {"resourceVersion", version}}},
          {"status", status}};
}

Json Refusal(int code, const std::string& reason) {
  return {{"kind", "Status"},
          {"code", code},
          {"reason", reason},
          {"message", "because"}};
}

class ActorTest : public ::testing::Test {
 protected:
  ActorTest()
      : client_(MakeClient()),
        events_(&client_, {.instance = "op"}),
        jobs_(&client_, TrainingJobs(), {}, [](const ObjectChange&) {}),
        pods_(&client_, Pods(), {}, [](const ObjectChange&) {}),
        job_(std::make_shared<const Json>(JobObject("5", Json::object()))),
        runtime_("uid", "the key", 7070,
                 [this](const std::string&, const std::string&)
                     -> absl::StatusOr<std::unique_ptr<agent::AgentApi>> {
                   auto agent = std::make_unique<ScriptedAgent>();
                   agents_.push_back(agent.get());
                   return agent;
                 },
                 {.on_change = [] {}, .on_failure = [] {}}) {
    snapshot_.job.metadata = {.namespace_name = "n",
                              .name = "gpt",
                              .uid = "uid",
                              .resource_version = "5"};
  }

  std::shared_ptr<Credentials> MakeCredentials() {
    CredentialSources sources;
    sources.address = server_.address();
    return std::make_shared<Credentials>(sources);
  }
  HttpKubeClient MakeClient() { return HttpKubeClient(MakeCredentials()); }

  void Answer(int code, const Json& body) {
    server_.OnRequest([=](FakeExchange& x) { x.RespondJson(code, body); });
  }
  RoundResult Do(const std::vector<Action>& actions) {
    return Act({.client = &client_,
                .jobs = &jobs_,
                .pods = &pods_,
                .events = &events_,
                .fail_points = &fail_points_},
               job_, snapshot_, actions, runtime_);
  }
  void ConnectAgents(uint32_t count) {
    std::vector<PodView> pods;
    for (uint32_t serial = 0; serial < count; ++serial) {
      PodView pod;
      pod.serial = serial;
      pod.ip = "10.0.0." + std::to_string(serial);
      pod.started = absl::UnixEpoch();
      pods.push_back(pod);
    }
    runtime_.Connect(pods);
  }
  AgentTarget Target(uint32_t serial) {
    return {serial, "10.0.0." + std::to_string(serial) + ":7070"};
  }
  void Flush(uint32_t serial) {
    runtime_.Link(serial, Target(serial).address)->Flush(absl::Seconds(10));
  }

  FakeApiServer server_;
  HttpKubeClient client_;
  EventRecorder events_;
  Informer jobs_;
  Informer pods_;
  FailPoints fail_points_;
  SharedJson job_;
  Snapshot snapshot_;
  std::vector<ScriptedAgent*> agents_;
  JobRuntime runtime_;
};

TEST_F(ActorTest, CreatesAPodWithTheKeyAndSeesItAtOnce) {
  Answer(201, PodObject("uid", "9"));
  runtime_.create_error = CreateError{"old", absl::UnixEpoch()};
  EXPECT_TRUE(Do({CreatePod{0, "gpt-0", kPodBody}}).status.ok());
  EXPECT_THAT(server_.requests()[0].body, HasSubstr("\"value\":\"the key\""));
  EXPECT_NE(pods_.cache().Find("n", "gpt-0"), nullptr);
  EXPECT_FALSE(runtime_.create_error.has_value());
}

TEST_F(ActorTest, APodThatExistsIsOursOrAnError) {
  for (const char* owner : {"uid", "another"}) {
    FakeApiServer server;
    CredentialSources sources;
    sources.address = server.address();
    HttpKubeClient client(std::make_shared<Credentials>(sources));
    server.OnRequest([](FakeExchange& x) {
      x.RespondJson(409, Refusal(409, "AlreadyExists"));
    });
    server.OnRequest(
        [=](FakeExchange& x) { x.RespondJson(200, PodObject(owner, "9")); });
    const RoundResult result =
        Act({.client = &client,
             .jobs = &jobs_,
             .pods = &pods_,
             .events = &events_,
             .fail_points = &fail_points_},
            job_, snapshot_, {CreatePod{0, "gpt-0", kPodBody}}, runtime_);
    EXPECT_EQ(result.status.ok(), owner == std::string("uid"));
    EXPECT_EQ(runtime_.create_error.has_value(), owner != std::string("uid"));
  }
}

TEST_F(ActorTest, AFailedCreationIsRememberedAndEndsTheRound) {
  Answer(403, Refusal(403, "Forbidden"));
  EXPECT_TRUE(absl::IsPermissionDenied(
      Do({CreatePod{0, "gpt-0", kPodBody}, CreatePod{1, "gpt-1", kPodBody}})
          .status));
  EXPECT_THAT(server_.requests(), SizeIs(1));
  EXPECT_THAT(runtime_.create_error->message, HasSubstr("because"));
}

TEST_F(ActorTest, DeletingWhatIsGoneIsDone) {
  Answer(404, Refusal(404, "NotFound"));
  Answer(409, Refusal(409, "Conflict"));  // a namesake
  EXPECT_TRUE(Do({DeletePod{.name = "gpt-0", .uid = "p"},
                  DeletePod{.name = "gpt-1", .uid = "q"}})
                  .status.ok());
  EXPECT_THAT(server_.requests()[0].body, HasSubstr("\"uid\":\"p\""));
  EXPECT_FALSE(
      absl::StrContains(server_.requests()[0].body, "gracePeriodSeconds"));
}

TEST_F(ActorTest, ADeletedPodIsSeenTerminatingAtOnce) {
  Json pod = PodObject("uid", "9");
  pod["metadata"]["deletionTimestamp"] = "2026-03-01T12:00:00Z";
  Answer(200, pod);
  EXPECT_TRUE(Do({DeletePod{.name = "gpt-0", .uid = "p"}}).status.ok());
  EXPECT_NE(pods_.cache().Find("n", "gpt-0"), nullptr);
}

TEST_F(ActorTest, AStatusWriteIsTheDifferenceOnTheVersionThatWasSeen) {
  snapshot_.job.status.phase = "Running";
  snapshot_.job.status.reason = "old";
  WriteStatus write{.status = snapshot_.job.status, .takes_term = true};
  write.status.operator_term = 4;
  write.status.reason = "";
  Answer(200, JobObject("6", {{"operatorTerm", 4}}));
  EXPECT_TRUE(Do({write}).status.ok());
  const Json patch = Json::parse(server_.requests()[0].body);
  EXPECT_EQ(ResourceVersionOf(patch), "5");
  EXPECT_EQ(NumberAt(patch, "/status/operatorTerm"), 4);
  EXPECT_FALSE(patch["status"].contains("phase"));
  EXPECT_TRUE(patch["status"]["reason"].is_null());
  EXPECT_EQ(runtime_.term, 4u);
  EXPECT_EQ(ResourceVersionOf(*jobs_.cache().Find("n", "gpt")), "6");
}

TEST_F(ActorTest, AStatusThatIsTheSameIsNotWritten) {
  EXPECT_TRUE(Do({WriteStatus{.status = snapshot_.job.status}}).status.ok());
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ActorTest, AfterAConflictItReadsAgainAndDropsTheRest) {
  ConnectAgents(1);
  Answer(409, Refusal(409, "Conflict"));
  Answer(200, JobObject("8", Json::object()));
  WriteStatus write{.status = snapshot_.job.status, .takes_term = true};
  write.status.operator_term = 4;
  EXPECT_TRUE(absl::IsAborted(
      Do({write, SendCommit{{.term = 4, .generation = 2}, {Target(0)}}})
          .status));
  EXPECT_EQ(runtime_.term, 0u);
  EXPECT_EQ(ResourceVersionOf(*jobs_.cache().Find("n", "gpt")), "8");
  Flush(0);
  EXPECT_THAT(agents_[0]->said(), IsEmpty());
}

TEST_F(ActorTest, AfterALostAnswerItReadsAgainAndTellsNobody) {
  ConnectAgents(1);
  server_.OnRequest([](FakeExchange& x) { x.Reset(); });
  Answer(200, JobObject("6", Json::object()));
  WriteStatus write{.status = snapshot_.job.status};
  write.status.generation = 2;
  EXPECT_TRUE(absl::IsUnavailable(
      Do({write, SendCommit{{.term = 4, .generation = 2}, {Target(0)}}})
          .status));
  EXPECT_EQ(server_.requests()[1].method, "GET");
  Flush(0);
  EXPECT_THAT(agents_[0]->said(), IsEmpty());
}

TEST_F(ActorTest, CommandsGoToTheAgentsThatAreThere) {
  ConnectAgents(2);
  const Fence fence = {.term = 1, .generation = 2, .plan_digest = "d"};
  EXPECT_TRUE(
      Do({SendArm{fence, {Target(0), Target(1), Target(7)}, 12}}).status.ok());
  EXPECT_TRUE(Do({SendAbort{fence, {Target(1)}, "why"}}).status.ok());
  Flush(0);
  Flush(1);
  EXPECT_THAT(agents_[0]->said(), ElementsAre("Arm 12"));
  EXPECT_THAT(agents_[1]->said(), ElementsAre("Arm 12", "Abort why"));
}

TEST_F(ActorTest, APrepareWithoutItsManifestIsNotSent) {
  ConnectAgents(1);
  SendPrepare prepare;
  prepare.targets = {Target(0)};
  prepare.transition.source.members = {{0, "a:1", {}}};
  prepare.manifest_digest = "d";
  EXPECT_TRUE(absl::IsUnavailable(Do({prepare}).status));
  prepare.transition.source.members.clear();
  prepare.transition.id = "first";
  EXPECT_TRUE(Do({prepare}).status.ok());
  Flush(0);
  EXPECT_THAT(agents_[0]->said(), ElementsAre("Prepare first "));
}

TEST_F(ActorTest, TheSoonestRequeueCounts) {
  EXPECT_EQ(Do({RequeueAfter{absl::Seconds(5), "a"},
                RequeueAfter{absl::Seconds(2), "b"}})
                .requeue_after,
            absl::Seconds(2));
}

TEST_F(ActorTest, ADeposedOperatorLetsGoOfTheAgents) {
  ConnectAgents(1);
  EXPECT_TRUE(Do({StandDown{9}}).status.ok());
  EXPECT_TRUE(runtime_.deposed_since.has_value());
  EXPECT_EQ(runtime_.Link(0, Target(0).address), nullptr);
}

TEST_F(ActorTest, AnEventNeverFailsARound) {
  Answer(500, "broken");
  EXPECT_TRUE(Do({RecordEvent{.reason = "Accepted", .note = "x"}}).status.ok());
  EXPECT_TRUE(events_.Flush(absl::Seconds(5)));
}

}  // namespace
}  // namespace dynatrain::control
