// What the tool prints, word for word. After a change that is meant:
//   bazel run //tools/cli:golden_test
// writes the files anew, to be looked at with git diff.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/golden_testutil.h"

namespace dynatrain::cli {
namespace {

std::vector<Golden> Goldens() {
  const std::string dense = Data("dense.yaml"), experts = Data("experts.yaml"),
                    large = Data("large.yaml"), pair = Data("pair.yaml");
  const std::string fc1 = "decoder.layers.3.mlp.linear_fc1.weight[17,5]";
  return {
      {"help.txt", {"--help"}},
      {"help_layout.txt", {"layout", "--help"}},
      {"help_explain.txt", {"explain", "-h"}},
      {"help_plan.txt", {"plan", "--help"}},
      {"help_simulate.txt", {"simulate", "--help"}},
      {"help_completion.txt", {"completion", "--help"}},
      {"completion.bash", {"completion", "bash"}},
      {"completion.zsh", {"completion", "zsh"}},
      {"completion.fish", {"completion", "fish"}},
      {"dense_ranks.txt", {"layout", dense}},
      {"dense_rank_5.txt", {"layout", dense, "--rank", "5"}},
      {"dense_fc1.txt", {"layout", dense, "-t", "*.1.*fc1*"}},
      {"dense_embedding.txt", {"layout", dense, "-t", "embed*", "-s", "main"}},
      {"dense_param.svg", {"layout", dense, "-o", "svg"}},
      {"experts_ranks.txt", {"layout", experts}},
      {"experts_expert.txt",
       {"layout", experts, "-t", "*.2.mlp.experts.3.*", "-r", "0,1,3"}},
      {"large_stages.txt", {"layout", large}},
      {"large_rank.txt",
       {"layout", large, "-r", "12345", "-t", "*.51.*", "-s", "exp_avg"}},
      {"pair.json", {"layout", pair, "-o", "json"}},
      {"pair_rank.json",
       {"layout", pair, "-o", "json", "-r", "1", "-t", "*fc?.weight"}},
      // What a job dumped, as a layout.
      {"listed_ranks.txt", {"layout", Data("pair.json")}},
      {"listed_rank_1.txt", {"layout", Data("pair.json"), "-r", "1"}},
      {"listed_fc1.txt", {"layout", Data("pair.json"), "-t", "*fc1.weight"}},
      {"listed_again.json", {"layout", Data("pair.json"), "-o", "json"}},
      {"explain_listed.txt",
       {"explain", Data("pair.json"), "-e",
        "decoder.layers.0.mlp.linear_fc1.weight[13,5]"}},
      {"explain_weight.txt", {"explain", dense, "-e", fc1}},
      {"explain_moment.txt",
       {"explain", dense, "-e", fc1, "--state", "exp_avg"}},
      {"explain_tied.txt",
       {"explain", dense, "-e", "embedding.word_embeddings.weight[501, 63]"}},
      {"explain_expert.txt",
       {"explain", experts, "-e",
        "decoder.layers.2.mlp.experts.3.linear_fc1.weight[20,1]", "-s",
        "exp_avg"}},
  };
}

TEST(GoldenTest, OutputsAreWhatTheyWere) {
  for (const Golden& golden : Goldens()) {
    const Outcome outcome = RunWords(golden.words);
    EXPECT_EQ(outcome.code, kDone) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    ExpectGolden(outcome.out, Data(golden.file));
  }
}

// The pictures in docs are made by the tool.
TEST(GoldenTest, PicturesInDocsAreUpToDate) {
  const std::string job = Data("dense.yaml");
  ExpectGolden(RunWords({"layout", job, "-o", "svg"}).out, "docs/space.svg");
  ExpectGolden(RunWords({"layout", job, "-o", "svg", "--state", "exp_avg"}).out,
               "docs/space_exp_avg.svg");
}

TEST(GoldenTest, DifferencesAreToldAndHaveTheirExitCode) {
  const std::string pair = Data("pair.yaml"), listing = Data("pair.json");
  EXPECT_EQ(RunWords({"layout", "--diff", listing, pair}).code, kDone);
  ExpectGolden(RunWords({"layout", "--diff", listing, pair}).out,
               Data("diff_equal.txt"));
  // Other parallelism; and a dump in which four things are wrong.
  const Outcome other =
      RunWords({"layout", "--diff", listing, Data("dense.yaml")});
  EXPECT_EQ(other.code, kDiffers);
  ExpectGolden(other.out, Data("diff_other.txt"));
  const Outcome wrong =
      RunWords({"layout", "--diff", Data("pair_wrong.json"), pair});
  EXPECT_EQ(wrong.code, kDiffers);
  EXPECT_EQ(wrong.err, "");
  ExpectGolden(wrong.out, Data("diff_wrong.txt"));
}

TEST(GoldenTest, AListingThatIsReadAndListedIsTheSameText) {
  EXPECT_EQ(FileText(Data("listed_again.json")), FileText(Data("pair.json")));
}

TEST(GoldenTest, ErrorsNameFieldValueAndWhatIsNear) {
  const std::string dense = Data("dense.yaml");
  const std::vector<Words> wrong = {
      {},
      {"layuot", dense},
      {"layout"},
      {"layout", dense, "--ranks", "3"},
      {"layout", dense, "-o", "yml"},
      {"layout", dense, "-r", "8"},
      {"layout", dense, "-r", "3-1"},
      {"layout", dense, "-s", "exp_av"},
      {"layout", dense, "-t", "decoder.layers.1.mlp.linear_fc1.wieght"},
      {"layout", Data("large.yaml"), "-o", "json"},
      {"layout", Data("large.yaml"), "-o", "svg"},
      {"layout", Data("nowhere.yaml")},
      {"layout", "tools/cli"},
      {"layout", "--diff", dense, dense},
      {"layout", "--diff", "-", "-"},
      {"explain", dense},
      {"explain", dense, "-e", "decoder.final_layernorm.weight"},
      {"explain", dense, "-e", "decoder.final_layernorm.weight[64]"},
      {"explain", dense, "-e", "decoder.final_layernorm.weight[x]"},
      {"explain", dense, "-e", "decoder.final_layrnorm.weight[0]"},
      {"explain", dense, "-e", "decoder.final_layernorm.weight[0]", "-s",
       "master"},
      {"completion", "powershell"},
  };
  std::string text;
  for (const Words& words : wrong) {
    const Outcome outcome = RunWords(words);
    EXPECT_EQ(outcome.out, "");
    absl::StrAppend(&text, "$ dynatrain ", absl::StrJoin(words, " "), "\n",
                    outcome.err, "exit code ", outcome.code, "\n\n");
  }
  ExpectGolden(text, Data("errors.txt"));
}

TEST(GoldenTest, ErrorsInLayoutFilesHaveTheirLine) {
  const std::string good = FileText(Data("dense.yaml"));
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"world: 8", "world: 10"},
      {"world: 8", "world: eight"},
      {"world: 8", "wrold: 8"},
      {"tp: 2", "tp: 3"},
      {"tp: 2", "tp: 0"},
      {"tp: 2", "tq: 2"},
      {"pp: 2", "pp: 8"},
      {"pp: 2}", "pp: 2, vpp: 3}"},
      {"framework: megatron", "framework: megatorn"},
      {"\"0.16.1\"", "\"0.16.2\""},
      {"bf16-mixed", "bf16_mixed"},
      {"bf16-mixed", "[param:bfloat17]"},
      {"states: bf16-mixed", ""},
      {"family: llama", "family: lama"},
      {"hidden: 64", "hidden: 65"},
      {"model: {family", "model: {{family"},
      {"parallelism", "megatron: {orders: x}\nparallelism"},
      {"parallelism", "megatron: {order: tp-dp}\nparallelism"},
  };
  std::string text;
  for (const auto& [was, is] : changes) {
    std::string changed = good;
    const size_t at = changed.find(was);
    ASSERT_NE(at, std::string::npos) << was;
    changed.replace(at, was.size(), is);
    const Outcome outcome = RunWords({"layout", "-"}, changed);
    EXPECT_EQ(outcome.code, kBadInput) << is;
    absl::StrAppend(&text, "# ", was, " -> ", is, "\n", outcome.err, "\n");
  }
  ExpectGolden(text, Data("layout_file_errors.txt"));
}

TEST(GoldenTest, VersionIsOneLine) {
  EXPECT_THAT(RunWords({"--version"}).out,
              testing::MatchesRegex("dynatrain [0-9.]+\n"));
}

}  // namespace
}  // namespace dynatrain::cli
