#include "tools/cli/kubectl_completion.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_split.h"

namespace dynatrain::cli {
namespace {

// `line` without "kubectl dynatrain "; it ends with the word to complete.
std::string Completed(absl::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  return KubectlCompletion(words);
}

TEST(KubectlCompletionTest, CommandsOptionsAndTheirValues) {
  EXPECT_EQ(Completed("pl"), "plan\n:4\n");
  EXPECT_EQ(Completed("plan --fro"), "--from\n--from-nodes\n:4\n");
  EXPECT_EQ(Completed("plan -o "), "table\njson\nsvg\n:4\n");
  EXPECT_EQ(Completed("plan --output=j"), "--output=json\n:4\n");
  EXPECT_EQ(Completed("plan -m deep"), "deepseek-v3\n:0\n");
  EXPECT_EQ(Completed("plan --check --clu"), "--cluster\n:4\n");
  EXPECT_EQ(Completed("layout jo"), ":0\n");
  EXPECT_EQ(Completed("completion "), "bash\nzsh\nfish\n:4\n");
  EXPECT_EQ(Completed("nothing x"), ":4\n");
  EXPECT_EQ(KubectlCompletion({}).find("--help\n--version\n"), 0);
}

}  // namespace
}  // namespace dynatrain::cli
