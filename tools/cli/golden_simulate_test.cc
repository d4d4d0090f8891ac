// What `dynatrain simulate` prints, word for word; golden_testutil.h says how
// the files are written anew.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/cli/golden_testutil.h"

namespace dynatrain::cli {
namespace {

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

// Every figure as #, and spaces as one: what is printed, without what planner
// and schedules make of it, which their own tests hold.
std::string WithoutFigures(const std::string& text) {
  std::string shape;
  for (char c : text) {
    const bool figure = absl::ascii_isdigit(c) || (c == '.' || c == ',');
    const char kept = figure ? '#' : c;
    if ((kept == '#' || kept == ' ') && !shape.empty() &&
        shape.back() == kept) {
      continue;
    }
    shape += kept;
  }
  return absl::StrReplaceAll(shape, {{"# ms", "# s"}});
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
    ExpectGolden(WithoutFigures(outcome.out), Data(golden.file));
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
