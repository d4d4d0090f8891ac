#include "operator/kube/informer.h"

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/kube/http_client.h"
#include "tests/kube/fake_api_server.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json Pod(const std::string& name, int version) {
  return {{"metadata",
           {{"namespace", "n"},
            {"name", name},
            {"resourceVersion", std::to_string(version)}}}};
}

Json ListOf(std::vector<Json> pods, int version) {
  return {{"metadata", {{"resourceVersion", std::to_string(version)}}},
          {"items", pods}};
}

Json Expired() {
  return {{"kind", "Status"}, {"code", 410}, {"reason", "Expired"}};
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() {
    CredentialSources sources;
    sources.address = server_.address();
    client_ = std::make_unique<HttpKubeClient>(
        std::make_shared<Credentials>(sources));
    options_.backoff = {.initial = absl::Milliseconds(1),
                        .cap = absl::Milliseconds(4),
                        .jitter = 0};
    // A stream that ends at once is what many tests send.
    options_.very_short = absl::ZeroDuration();
  }

  void Start() {
    informer_ = std::make_unique<Informer>(
        client_.get(), Pods(), Selection{.ns = "n"},
        [this](const ObjectChange& change) {
          absl::MutexLock lock(&mutex_);
          log_.push_back((change.after != nullptr ? "+" : "-") +
                         NameOf(change.object()));
        },
        options_);
    informer_->Start();
  }

  // What on_change has said once it has said so much.
  std::vector<std::string> Log(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return log_.size() >= count;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(10));
    return log_;
  }

  std::vector<std::string> WatchTargets() {
    std::vector<std::string> targets;
    for (const FakeRequest& request : server_.requests()) {
      if (absl::StrContains(request.target, "watch=1")) {
        targets.push_back(request.target);
      }
    }
    return targets;
  }

  FakeApiServer server_;
  std::unique_ptr<HttpKubeClient> client_;
  InformerOptions options_;
  absl::Mutex mutex_;
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Informer> informer_;
};

TEST_F(InformerTest, ListsThenWatchesFromTheListsVersion) {
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({Pod("a", 3)}, 10)); });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("b", 11));
    x.StaySilent();
  });
  Start();
  EXPECT_THAT(Log(2), ElementsAre("+a", "+b"));
  EXPECT_TRUE(informer_->WaitForSync(absl::Seconds(1)).ok());
  EXPECT_THAT(WatchTargets()[0], HasSubstr("resourceVersion=10&"));
}

TEST_F(InformerTest, ABookmarkMovesWhereTheNextWatchBegins) {
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({}, 10)); });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("BOOKMARK", {{"metadata", {{"resourceVersion", "42"}}}});
    x.EndStream();
  });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("b", 43));
    x.StaySilent();
  });
  Start();
  Log(1);
  EXPECT_THAT(WatchTargets()[1], HasSubstr("resourceVersion=42&"));
  EXPECT_EQ(informer_->lists(), 1);
}

TEST_F(InformerTest, A410ListsAgainOnceAndDeliversTheMissedDeletion) {
  server_.OnRequest([](FakeExchange& x) {
    x.RespondJson(200, ListOf({Pod("a", 3), Pod("b", 4)}, 10));
  });
  server_.OnRequest([](FakeExchange& x) {
    x.RespondJson(200, ListOf({Pod("a", 3), Pod("c", 30)}, 50));
  });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ERROR", Expired());
    x.EndStream();
  });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("d", 51));
    x.StaySilent();
  });
  Start();
  EXPECT_THAT(Log(5), ElementsAre("+a", "+b", "+c", "-b", "+d"));
  EXPECT_EQ(informer_->lists(), 2);
  EXPECT_THAT(WatchTargets()[1], HasSubstr("resourceVersion=50&"));
}

TEST_F(InformerTest, TheCacheKeepsItsContentWhileTheListFails) {
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({Pod("a", 3)}, 10)); });
  server_.OnRequest([&](FakeExchange& x) {
    EXPECT_NE(informer_->cache().Find("n", "a"), nullptr);
    x.Respond(500, "etcd is away");
  });
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({Pod("a", 12)}, 13)); });
  server_.OnWatch([](FakeExchange& x) { x.RespondJson(410, Expired()); });
  server_.OnWatch([](FakeExchange& x) { x.StaySilent(); });
  Start();
  EXPECT_THAT(Log(2), ElementsAre("+a", "+a"));
}

TEST_F(InformerTest, ABrokenWatchResumesWithoutAList) {
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({}, 10)); });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("a", 11));
    x.Reset();
  });
  server_.OnWatch(
      [](FakeExchange& x) { x.Respond(429, "", "Retry-After: 0\r\n"); });
  server_.OnWatch([](FakeExchange& x) { x.Respond(500, "<html>"); });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("b", 12));
    x.StaySilent();
  });
  Start();
  EXPECT_THAT(Log(2), ElementsAre("+a", "+b"));
  EXPECT_EQ(informer_->lists(), 1);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_THAT(WatchTargets()[i], HasSubstr("resourceVersion=11&"));
  }
}

TEST_F(InformerTest, ASilentWatchIsBegunAgainWithoutAList) {
  options_.silence = absl::Milliseconds(100);
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({}, 10)); });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.StaySilent();
  });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("a", 11));
    x.StaySilent();
  });
  Start();
  EXPECT_THAT(Log(1), ElementsAre("+a"));
  EXPECT_EQ(informer_->lists(), 1);
}

TEST_F(InformerTest, AVersionThatStaysTooLargeEndsInAList) {
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({}, 100)); });
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({Pod("a", 9)}, 10)); });
  const FakeScript too_large = [](FakeExchange& x) {
    x.RespondJson(
        504,
        {{"kind", "Status"},
         {"code", 504},
         {"reason", "Timeout"},
         {"details", {{"causes", {{{"reason", "ResourceVersionTooLarge"}}}}}}});
  };
  server_.OnWatch(too_large);
  server_.OnWatch(too_large);
  server_.OnWatch([](FakeExchange& x) { x.StaySilent(); });
  Start();
  EXPECT_THAT(Log(1), ElementsAre("+a"));
  EXPECT_EQ(informer_->lists(), 2);
}

TEST_F(InformerTest, AnErrorBeforeTheFirstListIsTold) {
  server_.OnRequest([](FakeExchange& x) {
    x.RespondJson(403, {{"kind", "Status"},
                        {"code", 403},
                        {"reason", "Forbidden"},
                        {"message", "pods is forbidden"}});
  });
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2, absl::Seconds(5)));
  EXPECT_FALSE(informer_->synced());
  EXPECT_THAT(
      std::string(informer_->WaitForSync(absl::Milliseconds(1)).message()),
      HasSubstr("pods is forbidden"));
}

TEST_F(InformerTest, EndsAtOnceWhileItWaitsToTryAgain) {
  options_.backoff = {.initial = absl::Hours(1), .cap = absl::Hours(1)};
  server_.OnRequest([](FakeExchange& x) { x.Respond(500, ""); });
  Start();
  ASSERT_TRUE(server_.WaitForRequests(1, absl::Seconds(5)));
  informer_.reset();  // Or the test's time-out.
}

TEST_F(InformerTest, ItsOwnWriteIsInTheCacheAtOnce) {
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({}, 10)); });
  server_.OnWatch([](FakeExchange& x) { x.StaySilent(); });
  Start();
  ASSERT_TRUE(informer_->WaitForSync(absl::Seconds(5)).ok());
  informer_->ApplyOwnWrite(Pod("mine", 11));
  EXPECT_NE(informer_->cache().Find("n", "mine"), nullptr);
  EXPECT_THAT(Log(1), ElementsAre("+mine"));
}

TEST_F(InformerTest, AListAndEventsAreTrimmed) {
  options_.trim = [](Json& object) { object["metadata"]["trimmed"] = "yes"; };
  server_.OnRequest(
      [](FakeExchange& x) { x.RespondJson(200, ListOf({Pod("a", 3)}, 10)); });
  server_.OnWatch([](FakeExchange& x) {
    x.StartStream();
    x.Event("ADDED", Pod("b", 11));
    x.StaySilent();
  });
  Start();
  Log(2);
  for (const SharedJson& object : informer_->cache().All()) {
    EXPECT_EQ(TextAt(*object, "/metadata/trimmed"), "yes");
  }
}

}  // namespace
}  // namespace dynatrain::control
