// What `dynatrain simulate` prints, word for word; golden_testutil.h says how
// the files are written anew.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/cli/golden_testutil.h"
#include "tools/cli/text_table.h"

namespace dynatrain::cli {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// A small job on small machines, so that steps take seconds.
constexpr char kSmall[] =
    "tflops=20,batch_tokens=65536,sequence_tokens=2048,reserved_gib=1,"
    "init_s=20,detect_s=10,checkpoint_s=300,storage_gb_per_s=1,"
    "storage_node_gb_per_s=0.5,host_link_gb_per_s=4";

Words Trace(const std::string& assumptions, const Words& more) {
  Words words = {"simulate",  "-t", Data("trace.csv"), "-c", "cpu-2core", "-m",
                 "gpt3-1.3b", "-a", assumptions};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string SingleSpaced(std::string text) {
  absl::RemoveExtraAsciiWhitespace(&text);
  return text;
}

TEST(GoldenSimulateTest, SimulationsAreWhatTheyWere) {
  const std::vector<Golden> goldens = {
      {"simulate_trace.txt", Trace(kSmall, {"-l", "tp2 tp2,pp2"})},
      {"simulate_trace_json.txt",
       Trace(absl::StrCat(kSmall, ",overlap=0"),
             {"-l", "tp2", "-u", "700", "-o", "json"})},
      {"simulate_case.txt", {"simulate", "--case", "paper-single-dp"}},
  };
  for (const Golden& golden : goldens) {
    const Outcome outcome = RunWords(golden.words);
    EXPECT_EQ(outcome.code, kDone) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    ExpectGolden(outcome.out, Data(golden.file));
  }
}

// Sums are those of the changes, and the table has them in their columns.
TEST(GoldenSimulateTest, FiguresAddUpAndStandWhereTheyBelong) {
  const Words more = {"-l", "tp2 tp2,pp2"};
  const std::string table = RunWords(Trace(kSmall, more)).out;
  Words words = Trace(kSmall, more);
  words.insert(words.end(), {"-o", "json"});
  const Json json = Json::parse(RunWords(words).out);
  ASSERT_EQ(json["runs"].size(), 7);
  for (const Json& run : json["runs"]) {
    const std::string strategy = run["strategy"];
    int64_t moved = 0, stored = 0, lost = 0, paused = 0, worst = 0;
    for (const Json& change : run["changes"]) {
      const Json& time = change["time"];
      moved += time["network_bytes"].get<int64_t>();
      stored += time["storage_bytes"].get<int64_t>();
      lost += change["lost_steps"].get<int64_t>();
      const int64_t pause = change["pause_ns"];
      if (change["kind"] != "stop") paused += pause;
      if (change["kind"] == "switch") worst = std::max(worst, pause);
      int64_t parts =
          time["drain_ns"].get<int64_t>() + time["commit_ns"].get<int64_t>();
      for (const Json& phase : time["phases"]) {
        parts += phase["ns"].get<int64_t>();
      }
      EXPECT_EQ(time["total_ns"], parts);
      // A stop that lost its nodes has saved nothing.
      EXPECT_TRUE(pause == 0 ||
                  pause == change["waited_ns"].get<int64_t>() + parts)
          << change;
    }
    EXPECT_EQ(run["moved_bytes"], moved) << strategy;
    EXPECT_EQ(run["stored_bytes"], stored) << strategy;
    EXPECT_EQ(run["lost_steps"], lost) << strategy;
    EXPECT_EQ(run["paused_ns"], paused) << strategy;
    EXPECT_EQ(run["tokens"], run["steps"].get<double>() * 65'536) << strategy;
    const double tokens = run["tokens"], goodput = run["goodput"];
    EXPECT_NEAR(goodput * run["ideal_tokens"].get<double>(), tokens, 1);
    const Words row = {strategy,
                       absl::StrFormat("%.3f %%", 100 * goodput),
                       absl::StrFormat("%.4g G", tokens / 1e9),
                       TimeText(paused),
                       TimeText(worst),
                       absl::StrCat(lost),
                       TimeText(run["down_ns"]),
                       BytesText(moved),
                       BytesText(stored)};
    EXPECT_THAT(SingleSpaced(table), HasSubstr(absl::StrJoin(row, " ")));
  }
}

TEST(GoldenSimulateTest, ErrorsNameWhatIsWrong) {
  const std::string trace = Data("trace.csv");
  const std::vector<Words> wrong = {
      {},
      {"-t", "none.csv"},
      {"-t", Data("dense.yaml")},
      {"-t", trace},
      {"-t", trace, "-l", "tp3"},
      {"-t", trace, "-l", "tp1 qp2"},
      {"-t", trace, "-a", "int_s=5"},
      {"-t", trace, "-a", "init_s=soon"},
      {"-t", trace, "-u", "0"},
      {"--case", "paper-70b"},
  };
  std::string text;
  for (const Words& more : wrong) {
    Words words = {"simulate", "-c", "cpu-2core", "-m", "gpt3-1.3b"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = RunWords(words);
    EXPECT_EQ(outcome.out, "");
    absl::StrAppend(&text, "$ dynatrain ", absl::StrJoin(words, " "), "\n",
                    outcome.err, "exit code ", outcome.code, "\n\n");
  }
  ExpectGolden(text, Data("simulate_errors.txt"));
  EXPECT_EQ(RunWords({"simulate", "-t", "-", "-c", "-", "-m", "gpt3-1.3b"}).err,
            "dynatrain: --trace and --cluster are both standard input, which "
            "can be read once; give one of them as a file\n");
}

}  // namespace
}  // namespace dynatrain::cli
