#include "vps/layout/megatron/pipeline_layout.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Parse(const std::string& text) {
  const auto stages = ParsePipelineLayout(text);
  return stages.ok() ? absl::StrJoin(*stages, "|")
                     : std::string(stages.status().message());
}

TEST(PipelineLayout, ExpandsAsMegatronsExpressionsDo) {
  EXPECT_THAT(*ParsePipelineLayout("Ettt|(tt|)*2,m|L"),
              ElementsAre("Ettt", "tt", "tt", "m", "L"));
  EXPECT_EQ(Parse("tt(tE|L)*2,mm"), "tttE|LtE|Lmm");
  EXPECT_EQ(Parse("(|tt)*2,mm"), "|tt|ttmm");
  EXPECT_EQ(Parse("E,t*3"), "Ettt");
  EXPECT_EQ(Parse("t|*3L"), "t|||L");
  EXPECT_EQ(Parse("(t*2|)*2L"), "tt|tt|L");
  EXPECT_EQ(Parse("Et*0L"), "EL");
  EXPECT_EQ(Parse("E(t|)*0L"), "EL");
  EXPECT_EQ(Parse(""), "");
}

TEST(PipelineLayout, NamesThePositionOfWhatIsNoLayer) {
  EXPECT_THAT(Parse("Et,x"), HasSubstr("position 4: 'x' is no layer"));
  EXPECT_THAT(Parse("Et tL"), HasSubstr("position 3: ' '"));
  EXPECT_THAT(Parse("E(tt|L"), HasSubstr("position 2: '('"));
  EXPECT_THAT(Parse("E(tt)L"), HasSubstr("position 2: '('"));
  EXPECT_THAT(Parse("E()*2L"), HasSubstr("position 2: '('"));
  EXPECT_THAT(Parse("((tt|)*2)*2"), HasSubstr("position 2: '('"));
  EXPECT_THAT(Parse("t*2*3"), HasSubstr("position 4: '*'"));
  EXPECT_THAT(Parse("*3"), HasSubstr("position 1: '*'"));
  EXPECT_THAT(Parse("t*"), HasSubstr("position 2: '*'"));
  EXPECT_THAT(Parse("e"), HasSubstr("position 1: 'e'"));
}

TEST(PipelineLayout, RefusesToGrowWithoutBound) {
  EXPECT_THAT(Parse("t*99999999999999999999"), HasSubstr("expands to more"));
  EXPECT_THAT(Parse("(t*1000)*1000"), HasSubstr("expands to more"));
  EXPECT_THAT(Parse("((tt)*60000)*60000"), HasSubstr("position 2"));
  EXPECT_THAT(Parse(std::string(1 << 17, 't')), HasSubstr("131072 bytes"));
}

TEST(PipelineLayout, SurvivesAnyText) {
  auto random = TestRandom();
  const std::string alphabet = "EtmL|,()*0129x";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 24; n > 0; --n) {
      text += alphabet[random() % alphabet.size()];
    }
    const auto stages = ParsePipelineLayout(text);
    if (!stages.ok()) {
      EXPECT_THAT(std::string(stages.status().message()),
                  HasSubstr("pipeline_layout"));
    }
  }
}

TEST(PipelineLayout, ChecksWhatMegatronAsserts) {
  const auto check = [](const std::string& text, int pp, int layers, int mtp) {
    const absl::Status status =
        CheckPipelineLayout(*ParsePipelineLayout(text), pp, layers, mtp);
    return status.ok() ? std::string("fine") : std::string(status.message());
  };
  EXPECT_EQ(check("Et|t|t|mL", 2, 3, 1), "fine");
  EXPECT_EQ(check("Et|t|tm|L", 2, 3, 1), "fine");
  EXPECT_EQ(check("|Et||L", 4, 1, 0), "fine");
  EXPECT_THAT(check("Et|t|L", 2, 2, 0), HasSubstr("it has 3 stages"));
  EXPECT_THAT(check("tE|L", 2, 1, 0), HasSubstr("first layer must be the"));
  EXPECT_THAT(check("Et|t", 2, 2, 0), HasSubstr("last layer must be the loss"));
  EXPECT_THAT(check("", 1, 1, 0), HasSubstr("first layer must be"));
  EXPECT_THAT(check("EtE|L", 2, 1, 0), HasSubstr("E must be there exactly"));
  EXPECT_THAT(check("EtL|L", 2, 1, 0), HasSubstr("L must be there exactly"));
  EXPECT_THAT(check("Et|L", 2, 2, 0),
              HasSubstr("it has 1 decoder layers; the model has 2"));
  EXPECT_THAT(check("Et|L", 2, 1, 1),
              HasSubstr("it has 0 MTP layers; the model has 1"));
  EXPECT_THAT(check("Etm|tL", 2, 2, 1), HasSubstr("before the first m"));
  EXPECT_THAT(check("Et|m|mL", 3, 1, 2),
              HasSubstr("stage 1 has 1 of the 2 MTP layers"));
  EXPECT_THAT(check("Et|m||L", 2, 1, 1),
              HasSubstr("m is in chunk 0 of stage 1"));
}

}  // namespace
}  // namespace dynatrain::vps::megatron
