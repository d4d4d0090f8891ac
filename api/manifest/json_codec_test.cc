#include "api/manifest/json_codec.h"

#include <string>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] =
    R"({"version":1,"tensors":[{"name":"w","state":"param",)"
    R"("dtype":"float32","shape":[8,4],)"
    R"("splits":[{"axis":"tp","dim":0},{"axis":"dp","dim":0}]},)"
    R"({"name":"w","state":"step","dtype":"int64","shape":[],"splits":[]}]})";

std::string Message(absl::string_view text) {
  const auto manifest = DecodeManifest(text);
  EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument)
      << text;
  return std::string(manifest.status().message());
}

TEST(ManifestCodec, ReadsWhatItWrites) {
  const vps::Manifest manifest = *DecodeManifest(kText);
  ASSERT_EQ(manifest.size(), 2);
  EXPECT_EQ(manifest.tensor(0).DebugString(),
            "w/param float32 [8, 4] tp:0 dp:0");
  EXPECT_EQ(manifest.tensor(1).DebugString(), "w/step int64 [] replicated");
  EXPECT_EQ(EncodeManifest(manifest), kText);
}

TEST(ManifestCodec, ReadsAnEmptyManifest) {
  EXPECT_EQ(DecodeManifest(EncodeManifest(vps::Manifest()))->size(), 0);
}

TEST(ManifestCodec, ReadsTensorsAndFieldsInAnyOrder) {
  EXPECT_EQ(*DecodeManifest(
                R"({"tensors":[{"splits":[],"shape":[],"dtype":"int64",)"
                R"("state":"step","name":"w"},{"state":"param","name":"w",)"
                R"("dtype":"float32","splits":[{"dim":0,"axis":"tp"},)"
                R"({"axis":"dp","dim":0}],"shape":[8,4]}],"version":1})"),
            *DecodeManifest(kText));
}

TEST(ManifestCodec, CarriesNamesOfAnyText) {
  const std::string name = "läyers.0.\"quoted\\weight\"/x";
  const vps::Manifest manifest = *vps::Manifest::Create(
      {{*vps::TensorSpec::Create(name, "param", vps::Dtype::kBool, {1}), {}}});
  EXPECT_EQ(*DecodeManifest(EncodeManifest(manifest)), manifest);
}

// One edit of the good text each, and what the error must say.
TEST(ManifestCodec, RefusesMalformedTextsNamingTensorAndField) {
  struct Row {
    std::string from, to, why;
  };
  const Row table[] = {
      {"\"version\":1", "\"version\":2", "version is 2; only 1"},
      {"\"version\":1", "\"version\":\"1\"", "version is string"},
      {"\"version\":1,", "", "field \"version\" is missing"},
      {"\"version\":1", "\"version\":1,\"x\":2", "field \"x\" is unknown"},
      {"\"name\":\"w\",\"state\":\"param\"", "\"state\":\"param\"",
       "tensors[0]: field \"name\" is missing"},
      {"\"name\":\"w\",\"state\":\"step\"", "\"name\":7,\"state\":\"step\"",
       "tensors[1]: name is number, not a string"},
      {"\"name\":\"w\",\"state\":\"step\"", "\"name\":null,\"state\":\"step\"",
       "tensors[1]: name is null"},
      {"\"name\":\"w\",\"state\":\"step\"", "\"name\":\"\",\"state\":\"step\"",
       "tensors[1]: \"\": name is empty"},
      {"\"state\":\"step\"", "\"state\":\"a\\u0000b\"",
       "tensors[1]: \"w\": tensor \"w\": state \"a\\x00"},
      {"\"dtype\":\"float32\"", "\"dtype\":\"float31\"",
       "tensors[0]: \"w\": dtype \"float31\" is unknown"},
      {"\"dtype\":\"float32\"", "\"dtype\":[]", "dtype is array"},
      {"[8,4]", "8", "\"w\": shape is number, not an array"},
      {"[8,4]", "[8,-4]",
       "tensors[0]: \"w\": tensor w/param: shape: box: dim 1"},
      {"[8,4]", "[8,4.5]", "shape[1] is no whole number"},
      {"[8,4]", "[8,1e3]", "shape[1] is no whole number"},
      {"[8,4]", "[8,\"4\"]", "shape[1] is string"},
      {"[8,4]", "[8,18446744073709551615]", "shape[1] is 18446744073709551615"},
      {"[8,4]", "[8,9223372036854775807]", "more elements than fit 63 bits"},
      {"[8,4]", "[1,1,1,1,1,1,1,1,1]", "9 dims; at most 8"},
      {"{\"axis\":\"tp\",\"dim\":0}", "7",
       "splits[0]: is number, not an object"},
      {"{\"axis\":\"tp\",\"dim\":0}", "{\"axis\":\"cp\",\"dim\":0}",
       "splits[0]: axis \"cp\" is unknown"},
      {"{\"axis\":\"tp\",\"dim\":0}", "{\"axis\":\"tp\",\"dim\":2}",
       "splits[0]: dim 2 of axis tp is not in 0..1"},
      {"{\"axis\":\"tp\",\"dim\":0}", "{\"axis\":\"tp\",\"dim\":-1}",
       "splits[0]: dim is -1"},
      {"{\"axis\":\"tp\",\"dim\":0}", "{\"axis\":\"tp\",\"dim\":4294967296}",
       "splits[0]: dim is 4294967296"},
      {"{\"axis\":\"tp\",\"dim\":0}", "{\"axis\":\"dp\",\"dim\":0}",
       "splits[1]: axis dp splits already"},
      {"{\"axis\":\"tp\",\"dim\":0}", "{\"axis\":\"tp\"}",
       "splits[0]: field \"dim\" is missing"},
      {"\"state\":\"step\"", "\"state\":\"param\"",
       "tensor w/param is there twice"},
      {"\"splits\":[]", "\"splits\":{}", "splits is object, not an array"},
      {"[]}]}", "[]}]", "the text is no JSON"},
      {"[]}]}", "[]}]}{}", "the text is no JSON"},
      {"\"shape\":[]", "\"shape\":[[[[[[]]]]]]", "nested too deep"},
  };
  for (const Row& row : table) {
    std::string text = kText;
    ASSERT_THAT(text, HasSubstr(row.from));
    text.replace(text.find(row.from), row.from.size(), row.to);
    EXPECT_THAT(Message(text), HasSubstr(row.why)) << text;
  }
}

TEST(ManifestCodec, RefusesWhatIsNoManifestAtAll) {
  EXPECT_THAT(Message(""), HasSubstr("no JSON"));
  EXPECT_THAT(Message("[]"), HasSubstr("is array, not an object"));
  EXPECT_THAT(Message("null"), HasSubstr("is null"));
  EXPECT_THAT(Message(R"({"version":1,"tensors":{}})"),
              HasSubstr("tensors is object"));
  EXPECT_THAT(Message("\xff\xfe"), HasSubstr("no JSON"));
  EXPECT_THAT(Message(std::string(1 << 20, '[')), HasSubstr("too deep"));
  EXPECT_THAT(Message(std::string(kMaxManifestBytes + 1, ' ')),
              HasSubstr("at most 67108864"));
}

TEST(ManifestCodec, NeverCrashesOnChangedBytes) {
  std::mt19937_64 random = TestRandom(30);
  for (int i = 0; i < 20000; ++i) {
    std::string text = kText;
    for (int edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, 1, "{}[],:\"019-e"[random() % 12]);
      }
      if (text.empty()) break;
    }
    const auto manifest = DecodeManifest(text);
    if (manifest.ok()) {
      EXPECT_EQ(*DecodeManifest(EncodeManifest(*manifest)), *manifest);
    } else {
      EXPECT_FALSE(manifest.status().message().empty());
    }
  }
}

}  // namespace
}  // namespace dynatrain::api
