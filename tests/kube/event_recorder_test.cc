#include "operator/kube/event_recorder.h"

#include <atomic>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/kube/http_client.h"
#include "tests/kube/fake_api_server.h"

namespace dynatrain::control {
namespace {

using ::testing::SizeIs;

const Json& Job() {
  static const auto* const kJob = new Json{
      {"apiVersion", "dynatrain.io/v1alpha1"},
      {"kind", "ElasticTrainingJob"},
      {"metadata", {{"namespace", "n"}, {"name", "gpt"}, {"uid", "u"}}}};
  return *kJob;
}

class EventRecorderTest : public ::testing::Test {
 protected:
  EventRecorderTest() {
    CredentialSources sources;
    sources.address = server_.address();
    client_ = std::make_unique<HttpKubeClient>(
        std::make_shared<Credentials>(sources));
    recorder_ = std::make_unique<EventRecorder>(
        client_.get(),
        EventRecorderOptions{.instance = "operator-1", .now = [this] {
                               return absl::FromUnixSeconds(seconds_);
                             }});
  }
  void Answer(int code) {
    server_.OnRequest(
        [=](FakeExchange& x) { x.RespondJson(code, Json::object()); });
  }
  void Record(const std::string& note) {
    recorder_->Record(Job(), {.warning = true,
                              .reason = "PodCreateFailed",
                              .action = "Reconcile",
                              .note = note});
    ASSERT_TRUE(recorder_->Flush(absl::Seconds(5)));
  }

  FakeApiServer server_;
  std::unique_ptr<HttpKubeClient> client_;
  std::atomic<int64_t> seconds_ = 1000;
  std::unique_ptr<EventRecorder> recorder_;
};

TEST_F(EventRecorderTest, WritesWhatTheServerAsksFor) {
  Answer(201);
  Record("quota");
  const FakeRequest request = server_.requests()[0];
  EXPECT_THAT(
      request.target,
      ::testing::StartsWith("/apis/events.k8s.io/v1/namespaces/n/events?"));
  const Json event = Json::parse(request.body);
  EXPECT_EQ(TextAt(event, "/eventTime"), "1970-01-01T00:16:40.000000Z");
  EXPECT_EQ(TextAt(event, "/type"), "Warning");
  EXPECT_EQ(TextAt(event, "/regarding/uid"), "u");
  EXPECT_EQ(TextAt(event, "/reportingController"), "dynatrain.io/operator");
}

TEST_F(EventRecorderTest, ARepeatRaisesTheSeries) {
  Answer(201);
  Answer(200);
  Record("quota");
  Record("quota again");
  Record("and again");
  ASSERT_THAT(server_.requests(), SizeIs(3));
  EXPECT_EQ(server_.requests()[1].method, "PATCH");
  EXPECT_EQ(NumberAt(Json::parse(server_.requests()[1].body), "/series/count"),
            2);
  EXPECT_EQ(NumberAt(Json::parse(server_.requests()[2].body), "/series/count"),
            3);
}

TEST_F(EventRecorderTest, ALateRepeatIsANewEvent) {
  Answer(201);
  Record("quota");
  seconds_ += 400;
  Record("quota");
  EXPECT_EQ(server_.requests()[1].method, "POST");
}

TEST_F(EventRecorderTest, ASeriesWhoseEventIsGoneBeginsAnew) {
  Answer(201);
  Answer(404);
  Answer(201);
  Record("quota");
  Record("quota");
  ASSERT_THAT(server_.requests(), SizeIs(3));
  EXPECT_EQ(server_.requests()[2].method, "POST");
}

TEST_F(EventRecorderTest, ARefusalIsDropped) {
  Answer(403);
  Record(std::string(5000, 'x'));
  EXPECT_EQ(TextAt(Json::parse(server_.requests()[0].body), "/note").size(),
            950u);
}

}  // namespace
}  // namespace dynatrain::control
