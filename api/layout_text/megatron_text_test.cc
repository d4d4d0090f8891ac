#include "api/layout_text/megatron_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace dynatrain::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<LoadedLayout> Load(const char* model, const char* text,
                                  int64_t max_ranks = 1024) {
  return LoadLayoutText(
      *LayoutText::Parse(text), {model, "bf16-mixed", max_ranks},
      [](absl::string_view path) { return absl::NotFoundError(path); });
}

std::string Refusal(const char* model, const char* text,
                    int64_t max_ranks = 1024) {
  return std::string(Load(model, text, max_ranks).status().message());
}

TEST(MegatronTextTest, LoadsTheLayout) {
  EXPECT_EQ(Load("llama2-70b", "tp8,pp4,dp4")->layout.world_size(), 128);
}

TEST(MegatronTextTest, SaysWhatIsPossibleInstead) {
  EXPECT_THAT(Refusal("llama2-70b", "tp7,pp4,dp4"),
              AllOf(HasSubstr("tp 7"),
                    HasSubstr("; possible: tp8,pp4,dp4 or tp4,pp4,dp4")));
  EXPECT_THAT(
      Refusal("qwen3-235b-a22b", "tp4,pp8,dp4,ep8,etp1"),
      AllOf(HasSubstr("layers 94 is not divisible by pp 8"),
            HasSubstr("possible: tp4,pp8,dp4,ep8,etp1,first11,last11")));
  EXPECT_THAT(Refusal("deepseek-v3", "pp8,dp16,ep16"), HasSubstr("last5"));
  EXPECT_THAT(Refusal("qwen3-235b-a22b", "tp4,pp2,dp4,ep8"),
              AllOf(HasSubstr("etp 4 * ep 8"), HasSubstr("possible: ")));
  EXPECT_THAT(Refusal("llama2-70b", "tp8,pp8,dp4", 128),
              AllOf(HasSubstr("256 ranks, and there are 128"),
                    HasSubstr("possible: tp4,pp8,dp4")));
}

TEST(MegatronTextTest, ALayoutThatIsNotAtFaultStays) {
  EXPECT_EQ(
      LoadLayoutText(
          *LayoutText::Parse("tp8"), {"llama2-70b", "bf16", 1024},
          [](absl::string_view path) { return absl::NotFoundError(path); })
          .status()
          .message()
          .find("possible"),
      absl::string_view::npos);
}

TEST(MegatronTextTest, AModelThatIsNotThereHasNoLayouts) {
  EXPECT_EQ(Refusal("lama2-70b", "tp7").find("possible"), std::string::npos);
  EXPECT_THAT(Refusal("lama2-70b", "tp7"), HasSubstr("is no preset"));
}

}  // namespace
}  // namespace dynatrain::api
