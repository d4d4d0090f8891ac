// `dynatrain plan`, word for word; see golden_testutil.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/cli/exit_code.h"
#include "tools/cli/golden_testutil.h"

namespace dynatrain::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

Words Plan(const char* model, const char* from, const char* to,
           const char* cluster, const Words& more = {}) {
  Words words = {"plan", "-m", model, "-f", from, "-t", to, "-c", cluster};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// `dynatrain plan` of the cases that people would try first, and odd ones.
std::vector<Golden> PlanGoldens() {
  return {
      {"plan_70b.txt",
       Plan("llama2-70b", "tp8,pp4,dp4", "tp4,pp8,dp4", "a800x16")},
      {"plan_same.txt",
       Plan("llama2-7b", "tp2,pp2,dp2", "dp2,pp2,tp2", "h100x16")},
      {"plan_migrate.txt", Plan("llama2-7b", "tp8,dp2", "tp8,dp2", "a800x16",
                                {"--to-nodes", "1,5"})},
      {"plan_relabel.txt", Plan("llama2-7b", "tp8,dp2", "tp8,dp2", "a800x16",
                                {"--to-nodes", "1,5", "--relabel", "nodes"})},
      {"plan_shrink_best.txt",
       Plan("llama2-7b", "tp8,pp2,dp2,zero0", "tp8,pp2,zero0", "a800x16",
            {"--to-nodes", "best"})},
      {"plan_fan_out.txt", Plan("gpt3-1.3b", "tp2,zero0", "tp2,dp6,zero0",
                                "a800x16-8nic", {"--check"})},
      {"plan_check.txt",
       Plan("gpt3-1.3b", "tp2,dp4", "tp4,dp2", "a800x16", {"--check"})},
      {"plan_tight.txt",
       Plan("gpt3-1.3b", "tp2,dp4", "tp4,dp2", "a800x16",
            {"--mode", "tight", "--check", "--budget", "64"})},
      {"plan_pair.json", Plan("gpt3-1.3b", "tp2", "tp4", "cpu-2core",
                              {"-o", "json", "--check", "--memory", "24"})},
      {"plan_weights.txt", Plan("llama2-7b", "tp8,dp2", "tp4,dp4", "a800x16",
                                {"--weights", "auto", "--runs", "--check"})},
      {"plan_weights.json",
       Plan("gpt3-1.3b", "tp2", "tp1,dp2", "cpu-2core",
            {"--weights", "regenerated", "--runs", "-o", "json"})},
      {"plan_grow.txt", Plan("gpt3-1.3b", "dp2", "dp3", "cpu-2core",
                             {"--to-nodes", "1-3", "--memory", "24"})},
      // A picture with nothing between nodes but two NICs, one with groups.
      {"plan_pair.svg", Plan("gpt3-1.3b", "tp2,dp2", "tp4", "cpu-2core",
                             {"-o", "svg", "--memory", "24"})},
      {"plan_wide.svg",
       Plan("gpt3-1.3b", "tp4,dp2", "tp2,dp8", "a800x16", {"-o", "svg"})},
      {"plan_files.txt",
       {"plan", "-f", Data("dense.yaml"), "-t", Data("dense_wide.yaml"), "-c",
        "cpu-2core"}},
      // Of tens of thousands of tensors: a second of processor time each.
      {"plan_235b.txt",
       Plan("qwen3-235b-a22b", "tp4,pp8,dp4,ep8,etp1,first11,last11",
            "tp2,pp8,dp8,ep16,etp1,first11,last11", "a800x16-8nic")},
      {"plan_deepseek.txt", Plan("deepseek-v3", "pp16,dp8,ep8,last1",
                                 "pp8,dp16,ep16,last5", "h100x16")},
  };
}

TEST(GoldenPlanTest, PlansAreWhatTheyWere) {
  for (const Golden& golden : PlanGoldens()) {
    const Outcome outcome = RunWords(golden.words);
    EXPECT_EQ(outcome.code, kDone) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    ExpectGolden(outcome.out, Data(golden.file));
  }
}

// Large models in the long run: a second or more of processor time each.
bool IsForThisRun(const Golden& golden) {
  const bool large = golden.file == std::string("plan_235b.txt") ||
                     golden.file == std::string("plan_deepseek.txt");
  return !large || std::getenv("DYNATRAIN_LONG") != nullptr;
}

// The plan is proved in whatever form it is shown.
TEST(GoldenPlanTest, EveryPlanIsProved) {
  for (const Golden& golden : PlanGoldens()) {
    Words words = golden.words;
    if (!IsForThisRun(golden) || absl::c_linear_search(words, "--check")) {
      continue;  // is proved as it is
    }
    const auto format = absl::c_find(words, "svg");
    if (format != words.end()) *format = "table";
    words.push_back("--check");
    const Outcome outcome = RunWords(words);
    EXPECT_EQ(outcome.code, kDone) << golden.file << ": " << outcome.err;
    EXPECT_THAT(outcome.out, AnyOf(HasSubstr("nobody waits for ever"),
                                   HasSubstr("\"holds\": true")))
        << golden.file;
  }
}

// The promise of transition/plan/balance_senders.h: within 1.05 of the least,
// but for pieces that would be below what is worth a message.
TEST(GoldenPlanTest, NoSenderHasMoreThanFivePercentAboveTheLeast) {
  constexpr int64_t kPieceBytes = 256 << 10;
  for (const Golden& golden : PlanGoldens()) {
    if (!IsForThisRun(golden) || absl::StrContains(golden.file, ".svg")) {
      continue;
    }
    Words words = golden.words;
    if (!absl::StrContains(golden.file, ".json")) {
      words.insert(words.end(), {"-o", "json"});
    }
    const Outcome outcome = RunWords(words);
    ASSERT_EQ(outcome.code, kDone) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    int64_t heaviest = 0;
    for (const auto& process : json["processes"]["list"]) {
      heaviest = std::max(heaviest, process["sent_bytes"].get<int64_t>());
    }
    const int64_t least = json["senders"]["least_bytes"];
    EXPECT_LE(heaviest, std::max(least + least / 20, least + kPieceBytes))
        << golden.file;
  }
}

TEST(GoldenPlanTest, TheOutputInDocsIsWhatIsPrinted) {
  EXPECT_THAT(FileText("docs/plan.md"),
              HasSubstr(RunWords({"plan", "--model", "llama2-70b", "--from",
                                  "tp8,pp4,dp4", "--to", "tp4,pp8,dp4",
                                  "--cluster", "a800x16", "--check"})
                            .out));
}

TEST(GoldenPlanTest, ErrorsOfPlansNameTheOptionAndWhatIsPossible) {
  const Words job = {"plan", "-m", "llama2-70b", "-c", "a800x16"};
  const std::vector<Words> wrong = {
      {},
      {"-f", "tp8"},
      {"-f", "tp8,pp4,dp4", "-t", "tp7,pp4,dp4"},
      {"-f", "tp8,pp4,dp4", "-t", "tp8,pp4,dp8"},
      {"-f", "tp8,pp3,dp4", "-t", "tp8,pp4,dp4"},
      {"-f", "tp8,pp4,dp4", "-t", "tp8,qp4,dp4"},
      {"-f", "tp8,pp4,dp4", "-t", "tp8,pp4,dp"},
      {"-f", "tp8,pp4,dp4", "-t", "tp8,pp4,dp4,ep2"},
      {"-f", "tp8,pp4", "-t", "tp8,pp4", "--to-nodes", "14-16"},
      {"-f", "tp8,pp4", "-t", "tp8,pp4", "--to-nodes", "13-15"},
      {"-f", "tp8,pp4", "-t", "tp8,pp4", "-s", "bf16"},
      {"-f", "tp8,pp4", "-t", "tp8,pp4", "--from-nodes", "best"},
      {"-f", "tp8,pp4", "-t", "tp8,pp4", "--relabel", "rank"},
      {"-f", "tp8,pp4", "-t", "tp8,pp4", "--weights", "cast"},
      {"-f", "nowhere.yaml", "-t", "tp8,pp4"},
      {"-f", "-", "-t", "-"},
      {"-f", "tp8,pp4,dp4", "-t", "tp4,pp8,dp4", "--memory", "10"},
      {"-f", "tp8,pp4,dp4", "-t", "tp4,pp8,dp4", "--memory", "ten"},
      {"-f", "tp8,pp4,dp4", "-t", "tp4,pp8,dp4", "--memory", "1e-10"},
      {"-f", "tp8,pp4,dp4", "-t", "tp4,pp8,dp4", "--budget", "1"},
      {"-f", "tp8,pp4,dp4", "-t", "tp4,pp8,dp4", "--mode", "fast"},
      {"-f", "tp8,pp4", "-t", "tools/cli/testdata/dense.yaml"},
  };
  std::string text;
  const auto add = [&](const Words& words) {
    const Outcome outcome = RunWords(words);
    EXPECT_EQ(outcome.out, "");
    absl::StrAppend(&text, "$ dynatrain ", absl::StrJoin(words, " "), "\n",
                    outcome.err, "exit code ", outcome.code, "\n\n");
  };
  for (const Words& more : wrong) {
    Words words = job;
    words.insert(words.end(), more.begin(), more.end());
    add(words);
  }
  add({"plan", "-f", "tp8", "-t", "tp4", "-c", "a800x16"});
  add({"plan", "-m", "llama2-7b", "-f", "-", "-t", "tp4", "-c", "-"});
  add({"plan", "-m", "lama2-70b", "-f", "tp8", "-t", "tp4", "-c", "a800x16"});
  add({"plan", "-m", "no/config.json", "-f", "tp8", "-t", "tp4", "-c",
       "a800x16"});
  add({"plan", "-m", "llama2-7b", "-f", "tp8", "-t", "tp4", "-c", "a80x16"});
  add({"plan", "-m", "llama2-7b", "-f", "tp8", "-t", "tp4", "-c",
       Data("dense.yaml")});
  ExpectGolden(text, Data("plan_errors.txt"));
}

}  // namespace
}  // namespace dynatrain::cli
