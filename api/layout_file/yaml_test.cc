#include "api/layout_file/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string Refusal(absl::string_view text) {
  return std::string(YamlText::Parse(text).status().message());
}

TEST(YamlTextTest, ScalarsHaveTheTypesOfTheCoreSchema) {
  const YamlText yaml = *YamlText::Parse(R"(
integer: -7
real: 1.5e3
flag: true
nothing:
also: ~
version: 0.16.1
quoted: "16"
name: inf
big: 99999999999999999999
list: [1, two, {three: 3}]
)");
  EXPECT_EQ(yaml.root(), Json({{"integer", -7},
                               {"real", 1500.0},
                               {"flag", true},
                               {"nothing", nullptr},
                               {"also", nullptr},
                               {"version", "0.16.1"},
                               {"quoted", "16"},
                               {"name", "inf"},
                               {"big", 99999999999999999999.0},
                               {"list", {1, "two", {{"three", 3}}}}}));
}

TEST(YamlTextTest, JsonIsYaml) {
  EXPECT_EQ(YamlText::Parse(R"({"a": [1, {"b": "c"}], "d": null})")->root(),
            Json({{"a", {1, {{"b", "c"}}}}, {"d", nullptr}}));
}

TEST(YamlTextTest, RefusesWithTheLine) {
  EXPECT_THAT(Refusal("a: 1\nb: [1, 2"), HasSubstr("line 2, column"));
  EXPECT_THAT(Refusal("a: 1\na: 2\n"), HasSubstr("line 2: a: comes twice"));
  EXPECT_THAT(Refusal("a:\n  b: 1\n  b: 2\n"),
              HasSubstr("line 3: a.b: comes twice"));
  EXPECT_THAT(Refusal("a: 1\n[1]: 2\n"), HasSubstr("line 2: a key that is no"));
  EXPECT_THAT(Refusal("a: *b\n"), HasSubstr("line 1, column"));
  EXPECT_EQ(Refusal(""), "no YAML document; it has to be one");
  for (const char* text : {"a: 1\n---\nb: 2\n", ",w"}) {
    EXPECT_EQ(Refusal(text), "more than one YAML document; it has to be one");
  }
}

TEST(YamlTextTest, RefusesWhatIsTooLargeOrTooDeep) {
  EXPECT_THAT(Refusal(std::string(kMaxYamlBytes + 1, ' ')),
              HasSubstr("bytes; at most"));
  EXPECT_THAT(Refusal(std::string(100000, '[')), HasSubstr("line 1, column"));
  // Ten levels of ten aliases each.
  std::string bomb = "a0: &a0 [1]\n";
  for (int i = 1; i <= 10; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [");
    for (int j = 0; j < 10; ++j) absl::StrAppend(&bomb, "*a", i - 1, ",");
    absl::StrAppend(&bomb, "]\n");
  }
  EXPECT_THAT(Refusal(bomb), HasSubstr("aliases counted as copies"));
}

TEST(YamlTextTest, ErrorsGetTheLineOfTheirField) {
  const YamlText yaml = *YamlText::Parse("a: 1\nb:\n  c: [4,\n      5]\n");
  const auto at = [&](absl::string_view message) {
    return std::string(
        yaml.AtLine(absl::InvalidArgumentError(message)).message());
  };
  EXPECT_EQ(at("a: 1 is wrong"), "line 1: a: 1 is wrong");
  EXPECT_EQ(at("b.c[1]: 5 is wrong"), "line 4: b.c[1]: 5 is wrong");
  EXPECT_EQ(at("b.d is missing"), "line 3: b.d is missing");
  EXPECT_EQ(at("d is missing"), "d is missing");
  EXPECT_TRUE(yaml.AtLine(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace dynatrain::api
