#include "tools/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dynatrain::cli {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<CommandLine> Parse(absl::string_view text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  return ParseCommandLine(words);
}

std::string Refusal(absl::string_view text) {
  return std::string(Parse(text).status().message());
}

TEST(CommandLineTest, OptionsAndArgumentsComeInAnyOrderAndForm) {
  for (const char* text :
       {"layout --output json --rank 3 a.yaml", "layout a.yaml -ojson -r 3",
        "layout -o json a.yaml --rank=3",
        "layout -r3 --output=json -- a.yaml"}) {
    const absl::StatusOr<CommandLine> line = Parse(text);
    ASSERT_TRUE(line.ok()) << text << ": " << line.status();
    EXPECT_EQ(line->command->name, "layout");
    EXPECT_THAT(line->arguments, ElementsAre("a.yaml")) << text;
    EXPECT_EQ(line->Get("output"), "json") << text;
    EXPECT_EQ(line->Get("rank"), "3") << text;
    EXPECT_FALSE(line->Has("state"));
    EXPECT_EQ(line->Get("state", "param"), "param");
  }
}

TEST(CommandLineTest, AFlagTakesNoValue) {
  const absl::StatusOr<CommandLine> line = Parse("plan --check -m gpt3-13b");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->Has("check"));
  EXPECT_EQ(line->Get("model"), "gpt3-13b");
  EXPECT_FALSE(Parse("plan -m gpt3-13b")->Has("check"));
  EXPECT_EQ(Refusal("plan --check yes"), "one argument too many: yes");
}

TEST(CommandLineTest, NamesThatAreOnlySuggestedMayBePaths) {
  EXPECT_EQ(Parse("plan --cluster ./mine.yaml")->Get("cluster"), "./mine.yaml");
}

TEST(CommandLineTest, ADashIsAnArgumentAndSoIsAllBehindTwo) {
  EXPECT_THAT(Parse("layout -")->arguments, ElementsAre("-"));
  EXPECT_THAT(Parse("layout -- --rank")->arguments, ElementsAre("--rank"));
}

TEST(CommandLineTest, AFileMayBeCalledAsACommandIs) {
  for (const char* name : {"layout", "explain"}) {
    const absl::StatusOr<CommandLine> line =
        Parse(absl::StrCat("layout -r 3 ", name));
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->command->name, "layout");
    EXPECT_THAT(line->arguments, ElementsAre(name));
    EXPECT_EQ(line->Get("rank"), "3");
  }
}

TEST(CommandLineTest, HelpIsGivenHoweverIncompleteTheRestIs) {
  EXPECT_TRUE(Parse("--help")->help);
  EXPECT_TRUE(Parse("layout -h")->help);
  EXPECT_EQ(Parse("layout -h")->command->name, "layout");
  EXPECT_TRUE(Parse("explain --wrong --help")->help);
  EXPECT_TRUE(Parse("--version")->version);
}

TEST(CommandLineTest, SuggestsWhatWasMeant) {
  EXPECT_EQ(Refusal("layuot a.yaml"),
            "no command layuot; did you mean layout?");
  EXPECT_EQ(Refusal("frobnicate"),
            "no command frobnicate; there are layout, explain, plan, "
            "simulate, completion");
  EXPECT_EQ(
      Refusal(""),
      "no command; there are layout, explain, plan, simulate, completion");
  EXPECT_EQ(Refusal("layout --ranks 3 a.yaml"),
            "no option --ranks; did you mean --rank?");
  EXPECT_EQ(Refusal("layout --ouptut=json a.yaml"),
            "no option --ouptut; did you mean --output?");
  EXPECT_EQ(Refusal("layout -x a.yaml"),
            "no option -x; there are --help, --output, --rank, --tensor, "
            "--state, --diff");
  EXPECT_EQ(Refusal("layout -o jsn a.yaml"),
            "--output: \"jsn\" is not one of table, json, svg; did you mean "
            "json?");
  EXPECT_EQ(Refusal("completion bsh"),
            "SHELL: \"bsh\" is not one of bash, zsh, fish; did you mean bash?");
  EXPECT_EQ(Refusal("--verison"),
            "no option --verison; did you mean "
            "--version?");
}

TEST(CommandLineTest, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(Refusal("layout"), "FILE is missing");
  EXPECT_EQ(Refusal("layout a b"), "one argument too many: b");
  EXPECT_EQ(Refusal("layout a -s x --state y"),
            "--state is given twice: x and y");
  EXPECT_EQ(Refusal("layout a --rank"), "--rank needs a value");
}

}  // namespace
}  // namespace dynatrain::cli
