#include "api/model/parse_model.h"

#include <string>

#include "api/json/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/presets.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kLlama[] = R"({"model_type": "llama", "hidden_size": 8,
  "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
  "vocab_size": 32})";

std::string Why(const char* text) {
  return std::string(ParseModel(*ParseJson(text)).status().message());
}

TEST(ParseModel, TakesEachForm) {
  EXPECT_EQ(*ParseModel(Json("llama2-70b")), *vps::Preset("llama2-70b"));
  const vps::ModelConfig plain = *ParseModel(*ParseJson(
      R"({"family": "llama", "hidden": 8, "layers": 1, "heads": 2, "ffn": 16,
          "vocabulary": 32})"));
  const Json in_place = {{"huggingface", *ParseJson(kLlama)}};
  EXPECT_EQ(*ParseModel(in_place), plain);
  std::string asked;
  const auto from_file =
      ParseModel(Json{{"huggingface", "a/config.json"}},
                 [&](absl::string_view path) -> absl::StatusOr<std::string> {
                   asked = std::string(path);
                   return kLlama;
                 });
  EXPECT_EQ(*from_file, plain);
  EXPECT_EQ(asked, "a/config.json");
}

TEST(ParseModel, NamesTheFileThatIsWrong) {
  const auto read = [](std::string text) {
    return std::string(
        ParseModel(Json{{"huggingface", "a/config.json"}},
                   [&](absl::string_view) -> absl::StatusOr<std::string> {
                     return text;
                   })
            .status()
            .message());
  };
  EXPECT_THAT(read("{"), HasSubstr("a/config.json: not JSON"));
  EXPECT_THAT(read("{}"), HasSubstr("a/config.json.model_type: null"));
  EXPECT_EQ(ParseModel(Json{{"huggingface", "x"}},
                       [](absl::string_view) -> absl::StatusOr<std::string> {
                         return absl::NotFoundError("no such file");
                       })
                .status(),
            absl::NotFoundError("model.huggingface: no such file"));
}

TEST(ParseModel, RefusesOtherForms) {
  EXPECT_THAT(Why("\"llama4\""), HasSubstr("model: \"llama4\" is no preset"));
  EXPECT_THAT(Why("[]"), HasSubstr("model: is not an object"));
  EXPECT_THAT(Why("null"), HasSubstr("model: is not an object"));
  EXPECT_THAT(Why(R"({"huggingface": 3})"),
              HasSubstr("neither the path of a config.json nor its content"));
  EXPECT_THAT(Why(R"({"huggingface": "x", "layers": 3})"),
              HasSubstr("model.huggingface: stands alone"));
  EXPECT_THAT(Why(R"({"huggingface": "x"})"),
              HasSubstr("no file can be read here"));
}

}  // namespace
}  // namespace dynatrain::api
