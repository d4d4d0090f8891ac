#include "operator/kube/credentials.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ServerAddressTest, ReadsHostAndPort) {
  EXPECT_EQ(ServerAddress::Parse("https://10.0.0.1:6443").value(),
            (ServerAddress{true, "10.0.0.1", 6443}));
  EXPECT_EQ(ServerAddress::Parse("http://a.b/").value(),
            (ServerAddress{false, "a.b", 80}));
  EXPECT_EQ(ServerAddress::Parse("https://[fd00::1]:6443").value(),
            (ServerAddress{true, "fd00::1", 6443}));
}

TEST(ServerAddressTest, RefusesWithTheReason) {
  for (const char* bad : {"", "10.0.0.1", "https://", "https://a:0",
                          "https://a:x", "https://a/path", "https://[::1",
                          "https://[::1]x", "https://a:65536"}) {
    const absl::Status status = ServerAddress::Parse(bad).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad));
  }
}

class CredentialsTest : public ::testing::Test {
 protected:
  Credentials Make() {
    CredentialSources sources;
    sources.token.path = Write("token", "first\n");
    sources.ca.path = Write("ca", "CA1");
    return Credentials(sources, [this] { return now_; });
  }
  absl::Time now_ = absl::UnixEpoch();
};

TEST_F(CredentialsTest, ReadsAtMostOnceAMinute) {
  Credentials credentials = Make();
  EXPECT_EQ(credentials.Current()->token, "first");
  Write("token", "second");
  Write("ca", "CA2");
  now_ += absl::Seconds(59);
  EXPECT_EQ(credentials.Current()->token, "first");
  now_ += absl::Seconds(1);
  EXPECT_EQ(credentials.Current()->token, "second");
  EXPECT_EQ(credentials.Current()->tls.ca, "CA2");
}

TEST_F(CredentialsTest, ReadsAtOnceAfterARefusalOfTheTokenInUse) {
  Credentials credentials = Make();
  EXPECT_EQ(credentials.Current()->token, "first");
  Write("token", "second");
  credentials.Refused("first");
  EXPECT_EQ(credentials.Current()->token, "second");
  Write("token", "third");
  credentials.Refused("first");  // A late one: that token has gone already.
  EXPECT_EQ(credentials.Current()->token, "second");
}

TEST_F(CredentialsTest, GoesOnWithTheOldOneWhileAFileIsAway) {
  Credentials credentials = Make();
  EXPECT_EQ(credentials.Current()->token, "first");
  std::filesystem::remove(::testing::TempDir() + "/token");
  now_ += absl::Minutes(2);
  EXPECT_EQ(credentials.Current()->token, "first");
}

TEST_F(CredentialsTest, SaysWhichFileIsMissingAtStart) {
  CredentialSources sources;
  sources.token.path = "/does/not/exist";
  Credentials credentials(sources, [this] { return now_; });
  EXPECT_THAT(std::string(credentials.Current().status().message()),
              HasSubstr("/does/not/exist"));
}

TEST(InClusterTest, ReadsWhatTheKubeletMounts) {
  const std::string root = ::testing::TempDir();
  Write("namespace", "training\n");
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const auto sources = InClusterSources(root);
  ASSERT_TRUE(sources.ok()) << sources.status();
  EXPECT_EQ(sources->address, (ServerAddress{true, "fd00::1", 443}));
  EXPECT_EQ(sources->default_namespace, "training");
  unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_EQ(InClusterSources(root).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dynatrain::control
