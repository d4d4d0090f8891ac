#include "operator/kube/json_framer.h"

#include <random>
#include <string>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status PushAll(JsonFramer& framer, absl::string_view bytes,
                     std::vector<std::string>& frames) {
  return framer.Push(
      bytes, [&](absl::string_view frame) { frames.emplace_back(frame); });
}

TEST(JsonFramerTest, CutsObjectsWhateverLiesBetween) {
  JsonFramer framer;
  std::vector<std::string> frames;
  EXPECT_TRUE(PushAll(framer, "{\"a\":1}{\"b\":[{}]}\n\r\t {}", frames).ok());
  EXPECT_THAT(frames, ElementsAre("{\"a\":1}", "{\"b\":[{}]}", "{}"));
  EXPECT_TRUE(framer.AtBoundary());
}

TEST(JsonFramerTest, BracesAndQuotesInStringsDoNotCount) {
  JsonFramer framer;
  std::vector<std::string> frames;
  const std::string tricky = R"({"a":"}{\"}","b\\":"\\"})";
  EXPECT_TRUE(PushAll(framer, tricky + tricky, frames).ok());
  EXPECT_THAT(frames, ElementsAre(tricky, tricky));
}

TEST(JsonFramerTest, KeepsABeginningUntilItsEnd) {
  JsonFramer framer;
  std::vector<std::string> frames;
  EXPECT_TRUE(PushAll(framer, "{\"a\":\"x\\", frames).ok());
  EXPECT_TRUE(frames.empty());
  EXPECT_FALSE(framer.AtBoundary());
  EXPECT_TRUE(PushAll(framer, "\"\"}", frames).ok());
  EXPECT_THAT(frames, ElementsAre("{\"a\":\"x\\\"\"}"));
}

TEST(JsonFramerTest, RefusesWhatIsNoObjectAndStaysBroken) {
  for (const char* bytes : {"<html>", "]", "\"{}\"", "1", "{}}", "null"}) {
    JsonFramer framer;
    std::vector<std::string> frames;
    EXPECT_EQ(PushAll(framer, bytes, frames).code(),
              absl::StatusCode::kInvalidArgument)
        << bytes;
    EXPECT_FALSE(PushAll(framer, "{}", frames).ok()) << bytes;
  }
}

TEST(JsonFramerTest, RefusesAnObjectAboveTheLimit) {
  JsonFramer framer(/*max_frame_bytes=*/16);
  std::vector<std::string> frames;
  const absl::Status status =
      PushAll(framer, "{\"a\":\"" + std::string(20, 'x'), frames);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("16 bytes"));
}

// Any cutting of the bytes gives the same objects.
TEST(JsonFramerTest, ChunkBordersMeanNothing) {
  std::mt19937_64 rng = TestRandom();
  const std::vector<std::string> objects = {
      R"({"type":"ADDED","object":{"s":"é\u007d{[\"\\"}})", "{}",
      R"({"a":[[],[{}],"]"],"b":-1.5e3})", R"({"\\":"\\\\"})"};
  for (int round = 0; round < 500; ++round) {
    std::string stream;
    std::vector<std::string> want;
    for (int i = 0; i < 8; ++i) {
      want.push_back(objects[rng() % objects.size()]);
      stream += want.back() + std::string(rng() % 3, '\n');
    }
    JsonFramer framer;
    std::vector<std::string> got;
    for (size_t at = 0; at < stream.size();) {
      const size_t n = 1 + rng() % 12;
      ASSERT_TRUE(PushAll(framer, stream.substr(at, n), got).ok());
      at += n;
    }
    ASSERT_EQ(got, want);
  }
}

// Random bytes never crash it, and it never holds more than the limit allows.
TEST(JsonFramerTest, RandomBytesEndInAStatus) {
  std::mt19937_64 rng = TestRandom();
  const std::string alphabet = "{}[]\"\\ \nax\xff";
  for (int round = 0; round < 2000; ++round) {
    JsonFramer framer(/*max_frame_bytes=*/32);
    std::vector<std::string> frames;
    std::string bytes;
    for (int i = 0; i < 64; ++i) bytes += alphabet[rng() % alphabet.size()];
    PushAll(framer, bytes, frames).IgnoreError();
    for (const std::string& frame : frames) EXPECT_LE(frame.size(), 33u);
  }
}

}  // namespace
}  // namespace dynatrain::control
