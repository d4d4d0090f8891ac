#include "api/json/reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string Message(const ObjectReader& reader) {
  return std::string(reader.status().message());
}

TEST(ObjectReaderTest, AbsentFieldsGiveDefaults) {
  const Json json = Json::object();
  ObjectReader reader(json, "spec");
  EXPECT_EQ(reader.Int("a", 0, 9, 4), 4);
  EXPECT_EQ(reader.Text("b", "x"), "x");
  EXPECT_TRUE(reader.Bool("c", true));
  EXPECT_EQ(reader.Number("f", 0, 1, 0.5), 0.5);
  EXPECT_EQ(reader.Time("d"), absl::UnixEpoch());
  EXPECT_TRUE(reader.List("e").empty());
  EXPECT_TRUE(reader.status().ok());
}

TEST(ObjectReaderTest, ErrorsNameFieldValueAndWhatIsRight) {
  const struct {
    const char* json;
    const char* message;
  } cases[] = {
      {R"({"n": 10})", "spec.n: 10 is not an integer in [0, 9]"},
      {R"({"n": -1})", "spec.n: -1 is not an integer in [0, 9]"},
      {R"({"n": 1.5})", "spec.n: 1.5 is not an integer in [0, 9]"},
      {R"({"n": "3"})", "spec.n: \"3\" is not an integer in [0, 9]"},
      {R"({"n": 18446744073709551615})", "is not an integer in [0, 9]"},
      {R"({"f": 2})", "spec.f: 2 is not a number in [0, 1.5]"},
      {R"({"f": "1"})", "spec.f: \"1\" is not a number in [0, 1.5]"},
      {R"({"t": 1})", "spec.t: 1 is not a text"},
      {R"({"b": 1})", "spec.b: 1 is neither true nor false"},
      {R"({"z": "now"})", "is not a time like"},
      {R"({"c": "up"})", "spec.c: \"up\" is not one of left, right"},
      {R"({"l": {}})", "spec.l: {} is not a list"},
      {R"([1])", "spec: [1] is not an object"},
  };
  for (const auto& test : cases) {
    const Json json = Json::parse(test.json);
    ObjectReader reader(json, "spec");
    reader.Int("n", 0, 9, 0);
    reader.Number("f", 0, 1.5, 0);
    reader.Text("t");
    reader.Bool("b");
    reader.Time("z");
    reader.Choice("c", {"left", "right"});
    reader.List("l");
    EXPECT_THAT(Message(reader), HasSubstr(test.message)) << test.json;
  }
}

TEST(ObjectReaderTest, TheFirstErrorStays) {
  const Json json = Json::parse(R"({"a": "x", "b": "y"})");
  ObjectReader reader(json, "");
  reader.Int("a", 0, 1, 0);
  reader.Int("b", 0, 1, 0);
  EXPECT_THAT(Message(reader), HasSubstr("a: "));
}

TEST(ParseJsonTest, RefusesWhatIsNotOneValue) {
  for (const char* text : {"", "{", "{} {}", "\xff", "nul"}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
}

TEST(ObjectReaderTest, ListsOfIntegersAreReadWhole) {
  const Json json = {{"n", {0, 4, 9}}, {"big", {0, 10}},       {"below", {-1}},
                     {"text", {"1"}},  {"huge", {1ULL << 63}}, {"no", 3}};
  ObjectReader good(json, "");
  EXPECT_THAT(good.Ints("n", 0, 9), testing::ElementsAre(0, 4, 9));
  EXPECT_TRUE(good.Ints("absent", 0, 9).empty());
  EXPECT_TRUE(good.status().ok());
  for (const char* key : {"big", "below", "text", "huge", "no"}) {
    ObjectReader reader(json, "spec");
    EXPECT_TRUE(reader.Ints(key, 0, 9).empty());
    EXPECT_THAT(Message(reader),
                HasSubstr("is not a list of integers in [0, 9]"))
        << key;
  }
}

TEST(ObjectReaderTest, MissingAndUnknownFieldsAreNamedWithWhatIsNear) {
  const Json json = {{"sahpe", {1}}, {"dtype", "int8"}};
  ObjectReader missing(json, "tensor");
  missing.Require({"dtype", "shape"});
  EXPECT_EQ(Message(missing),
            "tensor.shape is missing; is \"sahpe\" what was meant?");
  ObjectReader unknown(json, "tensor");
  unknown.AllowOnly({"dtype", "shape"});
  EXPECT_EQ(Message(unknown),
            "tensor.sahpe is no field here; did you mean shape?");
  ObjectReader far(json, "");
  far.AllowOnly({"dtype", "x"});
  EXPECT_EQ(Message(far), "sahpe is no field here; there are dtype, x");
  ObjectReader good(json, "");
  good.Require({"dtype"});
  good.AllowOnly({"dtype", "sahpe"});
  EXPECT_TRUE(good.status().ok());
}

std::string Nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJsonTest, RefusesWhatIsNestedTooDeep) {
  EXPECT_EQ(DumpJson(*ParseJson(Nested(kMaxJsonDepth))), Nested(kMaxJsonDepth));
  for (const std::string& text :
       {Nested(kMaxJsonDepth + 1), Nested(1 << 20), std::string(1 << 20, '{'),
        "[\"\\\"\", " + Nested(kMaxJsonDepth) + "]"}) {
    EXPECT_EQ(ParseJson(text).status().message(), "nested more than 200 deep");
  }
  const std::string brackets(1000, '[');
  EXPECT_EQ(*ParseJson("\"\\\"" + brackets + "\""), "\"" + brackets);
}

TEST(ParseJsonTest, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(ParseJson("{\"a\": [1,\n }").status().message().substr(0, 45),
            "not JSON: parse error at line 2, column 2: sy");
  EXPECT_LT(ParseJson("\"" + std::string(1000, 'x')).status().message().size(),
            200);
}

}  // namespace
}  // namespace dynatrain::api
