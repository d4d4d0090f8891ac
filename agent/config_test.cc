#include "agent/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dynatrain::agent {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::map<std::string, std::string>;

Variables Good() {
  return {{"DYNATRAIN_JOB", "gpt"},
          {"DYNATRAIN_NAMESPACE", "default"},
          {"DYNATRAIN_JOB_UID", "u-1"},
          {"DYNATRAIN_SERIAL", "3"},
          {"DYNATRAIN_POD_IP", "10.0.0.3"},
          {"DYNATRAIN_RANKS_PER_REPLICA", "2"},
          {"DYNATRAIN_KEY", "00112233445566778899aabbccddeeff"}};
}

absl::StatusOr<AgentConfig> Create(const Variables& variables) {
  return AgentConfig::Create(
      [&](absl::string_view name) -> std::optional<std::string> {
        auto it = variables.find(std::string(name));
        if (it == variables.end()) return std::nullopt;
        return it->second;
      },
      "/dynatrain");
}

TEST(AgentConfigTest, ReadsTheEnvironmentOfThePod) {
  auto config = Create(Good());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->job, "gpt");
  EXPECT_EQ(config->serial, 3);
  EXPECT_EQ(config->ranks_per_replica, 2);
  EXPECT_EQ(config->port, 7070);
  EXPECT_EQ(config->grace, std::chrono::seconds(120));
  EXPECT_EQ(config->socket, "/dynatrain/agent.sock");
}

TEST(AgentConfigTest, ABadVariableIsNamed) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"DYNATRAIN_JOB", ""},
      {"DYNATRAIN_NAMESPACE", ""},
      {"DYNATRAIN_JOB_UID", ""},
      {"DYNATRAIN_SERIAL", "-1"},
      {"DYNATRAIN_SERIAL", "4294967296"},
      {"DYNATRAIN_SERIAL", "x"},
      {"DYNATRAIN_RANKS_PER_REPLICA", "0"},
      {"DYNATRAIN_RANKS_PER_REPLICA", "2.5"},
      {"DYNATRAIN_POD_IP", "node-1"},
      {"DYNATRAIN_KEY", "0011"},
      {"DYNATRAIN_KEY", "zz112233445566778899aabbccddeeff"},
      {"DYNATRAIN_AGENT_PORT", "65536"},
      {"DYNATRAIN_GRACE_SECONDS", "-5"},
      {"DYNATRAIN_SOCKET", std::string(200, 'x')},
  };
  for (const auto& [name, value] : bad) {
    Variables variables = Good();
    variables[name] = value;
    const absl::Status status = Create(variables).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << name << "=" << value;
    EXPECT_THAT(status.message(), HasSubstr(name));
  }
}

TEST(AgentConfigTest, AnErrorNeverShowsTheKey) {
  Variables variables = Good();
  variables["DYNATRAIN_KEY"] = "secret-and-wrong";
  EXPECT_THAT(Create(variables).status().message(), Not(HasSubstr("secret")));
}

TEST(RankEnvironmentTest, PutsThePackageFirstAndLeavesTheUsersThreads) {
  auto config = Create(Good());
  auto entries = RankEnvironment(*config, 1, {"PYTHONPATH=/app", "A=b=c"});
  EXPECT_THAT(entries, Contains("PYTHONPATH=/dynatrain/python:/app"));
  EXPECT_THAT(entries, Contains("A=b=c"));
  EXPECT_THAT(entries, Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(entries, Contains("DYNATRAIN_LOCAL_RANK=1"));
  EXPECT_THAT(entries, Contains("DYNATRAIN_SOCKET=/dynatrain/agent.sock"));
  entries = RankEnvironment(*config, 0, {"OMP_NUM_THREADS=8"});
  EXPECT_THAT(entries, Contains("OMP_NUM_THREADS=8"));
  EXPECT_THAT(entries, Contains("PYTHONPATH=/dynatrain/python"));
}

}  // namespace
}  // namespace dynatrain::agent
