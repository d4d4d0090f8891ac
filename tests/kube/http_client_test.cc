#include "operator/kube/http_client.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/kube/api_error.h"
#include "tests/kube/fake_api_server.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Json StatusObject(int code, const std::string& reason) {
  return {{"kind", "Status"},
          {"code", code},
          {"reason", reason},
          {"message", "because"}};
}

class HttpClientTest : public ::testing::Test {
 protected:
  HttpClientTest() {
    token_path_ = ::testing::TempDir() + "/token";
    SetToken("t1");
    CredentialSources sources;
    sources.address = server_.address();
    sources.token.path = token_path_;
    HttpClientOptions options;
    options.deadline = absl::Seconds(5);
    options.page_size = 2;
    options.sleep = [this](absl::Duration pause) { pauses_.push_back(pause); };
    client_ = std::make_unique<HttpKubeClient>(
        std::make_shared<Credentials>(sources), options);
  }

  void SetToken(const std::string& token) {
    std::ofstream(token_path_) << token;
  }
  void Answer(int code, const Json& body) {
    server_.OnRequest([=](FakeExchange& x) { x.RespondJson(code, body); });
  }
  absl::Status Get() { return client_->Get(Pods(), "ns", "a").status(); }

  FakeApiServer server_;
  std::string token_path_;
  std::vector<absl::Duration> pauses_;
  std::unique_ptr<HttpKubeClient> client_;
};

TEST_F(HttpClientTest, GetSaysWhoItIsAndReadsTheObject) {
  Answer(200, {{"metadata", {{"name", "a"}}}});
  EXPECT_EQ(NameOf(*client_->Get(Pods(), "ns", "a")), "a");
  const FakeRequest request = server_.requests()[0];
  EXPECT_EQ(request.method + " " + request.target,
            "GET /api/v1/namespaces/ns/pods/a");
  EXPECT_EQ(request.token, "t1");
}

TEST_F(HttpClientTest, ListFollowsThePages) {
  const Json page1 = {
      {"metadata", {{"resourceVersion", "7"}, {"continue", "a/b=="}}},
      {"items", {{{"metadata", {{"name", "a"}}}}}}};
  const Json page2 = {{"metadata", {{"resourceVersion", "7"}}},
                      {"items", {{{"metadata", {{"name", "b"}}}}}}};
  Answer(200, page1);
  Answer(200, page2);
  const auto list = client_->List(
      TrainingJobs(), {.ns = "n", .label_selector = "dynatrain.io/job"}, "");
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_THAT(list->items, SizeIs(2));
  EXPECT_EQ(TextAt(list->items[0], "/kind"), "ElasticTrainingJob");
  EXPECT_EQ(TextAt(list->items[0], "/apiVersion"), "dynatrain.io/v1alpha1");
  EXPECT_EQ(list->resource_version, "7");
  EXPECT_EQ(server_.requests()[0].target,
            "/apis/dynatrain.io/v1alpha1/namespaces/n/elastictrainingjobs"
            "?labelSelector=dynatrain.io%2Fjob&limit=2");
  EXPECT_THAT(server_.requests()[1].target, HasSubstr("&continue=a%2Fb%3D%3D"));
}

TEST_F(HttpClientTest, AnEmptyListMayHaveNullItems) {
  Answer(200, {{"metadata", {{"resourceVersion", "7"}}}, {"items", nullptr}});
  EXPECT_THAT(client_->List(Pods(), {}, "")->items, SizeIs(0));
}

TEST_F(HttpClientTest, StatusPatchCarriesItsPrecondition) {
  Answer(200, {{"metadata", {{"resourceVersion", "6"}}}});
  EXPECT_TRUE(
      client_
          ->PatchStatus(TrainingJobs(), "n", "gpt", "5", {{"phase", "Running"}})
          .ok());
  const FakeRequest request = server_.requests()[0];
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_THAT(request.target, HasSubstr("/gpt/status?fieldManager="));
  EXPECT_EQ(request.content_type, "application/merge-patch+json");
  EXPECT_EQ(Json::parse(request.body),
            (Json{{"metadata", {{"resourceVersion", "5"}}},
                  {"status", {{"phase", "Running"}}}}));
}

TEST_F(HttpClientTest, DeleteCarriesUidAndGrace) {
  Answer(200, {});
  EXPECT_TRUE(client_
                  ->Delete(Pods(), "n", "gpt-0",
                           {.uid = "u", .grace_period = absl::ZeroDuration()})
                  .ok());
  const Json body = Json::parse(server_.requests()[0].body);
  EXPECT_EQ(TextAt(body, "/preconditions/uid"), "u");
  EXPECT_EQ(NumberAt(body, "/gracePeriodSeconds", -1), 0);
  EXPECT_EQ(TextAt(body, "/propagationPolicy"), "Background");
}

TEST_F(HttpClientTest, ConflictAndExistsAreTwoThings) {
  Answer(409, StatusObject(409, "Conflict"));
  Answer(409, StatusObject(409, "AlreadyExists"));
  EXPECT_TRUE(absl::IsAborted(
      client_->PatchStatus(TrainingJobs(), "n", "g", "5", {}).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(
      client_->Create(Pods(), "n", Json::object()).status()));
  EXPECT_THAT(server_.requests(), SizeIs(2));
}

TEST_F(HttpClientTest, ARefusedTokenIsReadAgainOnce) {
  server_.OnRequest([&](FakeExchange& x) {
    if (x.request().token == "t2") return x.RespondJson(200, Json::object());
    SetToken("t2");
    x.RespondJson(401, StatusObject(401, "Unauthorized"));
  });
  EXPECT_TRUE(Get().ok());
  EXPECT_THAT(server_.requests(), SizeIs(2));
}

TEST_F(HttpClientTest, ATokenThatStaysRefusedIsAnError) {
  Answer(401, StatusObject(401, "Unauthorized"));
  EXPECT_TRUE(absl::IsUnauthenticated(Get()));
  EXPECT_THAT(server_.requests(), SizeIs(2));
}

TEST_F(HttpClientTest, WaitsAsLongAsRetryAfterSays) {
  server_.OnRequest([](FakeExchange& x) {
    x.Respond(429, StatusObject(429, "TooManyRequests").dump(),
              "Retry-After: 2\r\n");
  });
  server_.OnRequest([](FakeExchange& x) {
    x.Respond(503, "shutting down", "Retry-After: 1\r\nConnection: close\r\n");
  });
  Answer(201, Json::object());
  EXPECT_TRUE(client_->Create(Pods(), "n", Json::object()).ok());
  EXPECT_THAT(pauses_, ElementsAre(absl::Seconds(2), absl::Seconds(1)));
}

TEST_F(HttpClientTest, WithoutRetryAfterItIsTheCallersMatter) {
  Answer(500, StatusObject(500, "InternalError"));
  EXPECT_EQ(Get().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(server_.requests(), SizeIs(1));
}

TEST_F(HttpClientTest, ARetryAfterBeyondTheDeadlineIsNotWaitedFor) {
  server_.OnRequest(
      [](FakeExchange& x) { x.Respond(429, "", "Retry-After: 60\r\n"); });
  EXPECT_TRUE(absl::IsResourceExhausted(Get()));
  EXPECT_THAT(pauses_, SizeIs(0));
}

TEST_F(HttpClientTest, HtmlFromAProxyIsAnErrorWithItsBeginning) {
  server_.OnRequest([](FakeExchange& x) {
    x.Respond(502, "<html>bad gateway</html>", "", "text/html");
  });
  const absl::Status status = Get();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("bad gateway"));
}

TEST_F(HttpClientTest, HtmlAsASuccessIsAnErrorToo) {
  server_.OnRequest(
      [](FakeExchange& x) { x.Respond(200, "<html>", "", "text/html"); });
  EXPECT_EQ(Get().code(), absl::StatusCode::kInternal);
}

TEST_F(HttpClientTest, AReadIsRepeatedAfterAReset) {
  server_.OnRequest([](FakeExchange& x) { x.Reset(); });
  Answer(200, Json::object());
  EXPECT_TRUE(Get().ok());
}

TEST_F(HttpClientTest, AWriteIsNotRepeatedAfterAReset) {
  server_.OnRequest([](FakeExchange& x) { x.Reset(); });
  Answer(201, Json::object());
  EXPECT_TRUE(absl::IsUnavailable(
      client_->Create(Pods(), "n", Json::object()).status()));
  EXPECT_THAT(server_.requests(), SizeIs(1));
}

TEST_F(HttpClientTest, ASilentServerEndsInTheDeadline) {
  HttpClientOptions options;
  options.deadline = absl::Milliseconds(200);
  CredentialSources sources;
  sources.address = server_.address();
  HttpKubeClient client(std::make_shared<Credentials>(sources), options);
  server_.OnRequest([](FakeExchange& x) { x.StaySilent(); });
  EXPECT_TRUE(absl::IsDeadlineExceeded(client.Get(Pods(), "n", "a").status()));
}

TEST_F(HttpClientTest, ASlowBodyEndsInTheDeadline) {
  HttpClientOptions options;
  options.deadline = absl::Milliseconds(300);
  CredentialSources sources;
  sources.address = server_.address();
  HttpKubeClient client(std::make_shared<Credentials>(sources), options);
  server_.OnRequest([](FakeExchange& x) {
    x.StartStream();
    // Each byte is in time; the whole isn't.
    for (int i = 0; i < 20; ++i) {
      x.Chunk(" ");
      absl::SleepFor(absl::Milliseconds(50));
    }
    x.Chunk("{}");
    x.EndStream();
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(client.Get(Pods(), "n", "a").status()));
}

TEST_F(HttpClientTest, NobodyListeningIsUnavailable) {
  CredentialSources sources;
  sources.address = {.tls = false, .host = "127.0.0.1", .port = 1};
  HttpKubeClient client(std::make_shared<Credentials>(sources));
  EXPECT_TRUE(absl::IsUnavailable(client.Get(Pods(), "n", "a").status()));
}

TEST_F(HttpClientTest, TextThatIsNotUtf8IsSentAsReplacement) {
  Answer(201, Json::object());
  EXPECT_TRUE(client_->Create(Pods(), "n", {{"note", "\xff"}}).ok());
  EXPECT_THAT(server_.requests()[0].body, HasSubstr("\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace dynatrain::control
