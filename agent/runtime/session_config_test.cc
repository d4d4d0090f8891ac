#include "agent/runtime/session_config.h"

#include <map>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Variables = std::map<std::string, std::string>;

Variables Complete() {
  return {{"DYNATRAIN_SOCKET", "/run/agent.sock"},
          {"DYNATRAIN_LOCAL_RANK", "3"},
          {"DYNATRAIN_POD_IP", "10.0.0.7"},
          {"DYNATRAIN_KEY", "00ff7A"}};
}

absl::StatusOr<SessionConfig> Create(const std::string& json,
                                     const Variables& variables) {
  return SessionConfig::Create(
      json, [&](const std::string& name) -> std::optional<std::string> {
        const auto it = variables.find(name);
        if (it == variables.end()) return std::nullopt;
        return it->second;
      });
}

TEST(SessionConfigTest, ComesFromTheEnvironment) {
  const SessionConfig config = Create("", Complete()).value();
  EXPECT_EQ(config.socket, "/run/agent.sock");
  EXPECT_EQ(config.local_rank, 3);
  EXPECT_EQ(config.pod_ip, "10.0.0.7");
  EXPECT_EQ(config.key, std::string("\0\xFF\x7A", 3));
}

TEST(SessionConfigTest, JsonGoesBeforeTheEnvironment) {
  const SessionConfig config =
      Create(R"({"socket":"/s","local_rank":0,"pod_ip":"::1","key":"ab",
                 "staging_bytes":1048576})",
             Complete())
          .value();
  EXPECT_EQ(config.socket, "/s");
  EXPECT_EQ(config.local_rank, 0);
  EXPECT_EQ(config.key, "\xAB");
  EXPECT_EQ(config.staging.total_bytes, 1 << 20);
}

TEST(SessionConfigTest, WhatIsMissingOrWrongIsNamed) {
  for (const char* variable : {"DYNATRAIN_SOCKET", "DYNATRAIN_LOCAL_RANK",
                               "DYNATRAIN_POD_IP", "DYNATRAIN_KEY"}) {
    Variables variables = Complete();
    variables.erase(variable);
    const absl::Status status = Create("{}", variables).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(variable));
  }
  for (const char* json :
       {"no json", "[]", R"({"socket":7})", R"({"local_rank":-1})",
        R"({"key":"0"})", R"({"key":"xyz1"})", R"({"staging_bytes":0})"}) {
    EXPECT_EQ(Create(json, Complete()).status().code(),
              absl::StatusCode::kInvalidArgument)
        << json;
  }
}

TEST(SessionConfigTest, AKeyIsNeverShown) {
  const absl::Status status =
      Create(R"({"key":"secretsecret!"})", Complete()).status();
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace dynatrain::runtime
