#include "api/rank/frame.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string Body(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

TEST(FrameTest, SurvivesTheWire) {
  const Frame frame = Frame::Of({{"kind", "step"},
                                 {"g", 7},
                                 {"step", uint64_t{1} << 63},
                                 {"loss", 2.5},
                                 {"delta", -3},
                                 {"ok", true},
                                 {"text", "loss=2.5 \xC3\xA9"},
                                 {"value", BinaryField("\0\x01\xFF")}});
  const std::string bytes = EncodeFrame(frame).value();
  ASSERT_GT(bytes.size(), kFrameHeaderBytes);
  const Frame back =
      DecodeFrameBody(absl::string_view(bytes).substr(kFrameHeaderBytes))
          .value();
  EXPECT_EQ(back, frame);
  EXPECT_EQ(back.kind(), "step");
  EXPECT_EQ(back.Uint("step").value(), uint64_t{1} << 63);
  EXPECT_EQ(back.Int("delta").value(), -3);
  EXPECT_EQ(back.Number("loss").value(), 2.5);
  EXPECT_TRUE(back.Bool("ok").value());
}

TEST(FrameTest, HeaderIsTheBodysLengthLittleEndian) {
  const Frame frame = Frame::Of(
      {{"kind", "set"}, {"value", BinaryField(std::string(70000, 'x'))}});
  const std::string bytes = EncodeFrame(frame).value();
  const size_t body = bytes.size() - 4;
  EXPECT_EQ(static_cast<uint8_t>(bytes[0]), body & 0xFF);
  EXPECT_EQ(static_cast<uint8_t>(bytes[1]), body >> 8 & 0xFF);
  EXPECT_EQ(static_cast<uint8_t>(bytes[2]), body >> 16 & 0xFF);
  EXPECT_EQ(static_cast<uint8_t>(bytes[3]), 0);
}

TEST(FrameTest, BytesKeepZerosAndAbsentReadsAsEmpty) {
  const std::string raw("\0a\0\xFF", 4);
  const Frame frame = Frame::Of(
      {{"kind", "store"}, {"value", BinaryField(raw)}, {"x", nullptr}});
  EXPECT_EQ(frame.Bytes("value").value(), raw);
  EXPECT_EQ(frame.Bytes("x").value(), "");
  EXPECT_EQ(frame.Bytes("none").value(), "");
}

TEST(FrameTest, TypedGettersNameKindFieldAndType) {
  const Frame frame = Frame::Of({{"kind", "arm"}, {"g", "three"}, {"n", -1}});
  for (const absl::Status& status :
       {frame.Uint("g").status(), frame.Uint("n").status(),
        frame.Uint("step").status(), frame.Bool("g").status(),
        frame.Text("n").status(), frame.Number("g").status(),
        frame.Bytes("g").status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("\"arm\""));
  }
  EXPECT_THAT(std::string(frame.Uint("step").status().message()),
              HasSubstr("absent"));
}

TEST(FrameTest, RefusesAFrameAboveTheLimit) {
  const Frame frame =
      Frame::Of({{"kind", "store"},
                 {"value", BinaryField(std::string(kMaxFrameBytes, 0))}});
  const absl::Status status = EncodeFrame(frame).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("store"));
}

TEST(FrameTest, DebugStringShowsSizesNotBytes) {
  const Frame frame =
      Frame::Of({{"kind", "store"}, {"value", BinaryField("abcdef")}});
  EXPECT_THAT(frame.DebugString(), HasSubstr("<6 bytes>"));
}

TEST(FrameTest, MalformedBytesAreRefusedNotFatal) {
  const struct {
    const char* what;
    std::string body;
  } kCases[] = {
      {"empty", ""},
      {"not a map", Body(json::array({1, 2}))},
      {"no kind", Body({{"g", 1}})},
      {"kind is a number", Body({{"kind", 1}})},
      {"kind is empty", Body({{"kind", ""}})},
      {"trailing bytes", Body({{"kind", "go"}}) + "x"},
      {"truncated", Body({{"kind", "go"}, {"g", 1}}).substr(0, 7)},
      {"map of 2^64-1 entries", "\xBB\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"},
      {"array of 2^63 entries", std::string("\x9B\x80\0\0\0\0\0\0\0", 9)},
      {"text of 2^40 bytes", std::string("\x7B\0\0\1\0\0\0\0\0x", 10)},
      {"bytes of 2^40 bytes", std::string("\x5B\0\0\1\0\0\0\0\0x", 10)},
      {"indefinite map without end", "\xBF\x64kind\x62go"},
      {"integer key", "\xA1\x01\x02"},
      {"reserved additional information", "\xFC"},
      {"lone break", "\xFF"},
      {"tag", "\xC1\x00"},
      {"a million array heads", std::string(1 << 20, '\x81')},
      {"a million indefinite arrays", std::string(1 << 20, '\x9F')},
      {"a million map heads",
       [] {
         std::string s;
         for (int i = 0; i < 1 << 20; ++i) s += "\xA1\x61k";
         return s;
       }()},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(DecodeFrameBody(c.body).status().code(),
              absl::StatusCode::kInvalidArgument)
        << c.what;
  }
}

TEST(FrameTest, EveryTruncationAndByteFlipIsAFrameOrAnError) {
  const std::string whole =
      Body({{"kind", "prepare"},
            {"transition", {{"generation", 3}, {"members", {1, 2, 3}}}},
            {"loss", 1.25},
            {"value", BinaryField("abc")}});
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(DecodeFrameBody(whole.substr(0, n)).ok()) << n;
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string broken = whole;
      broken[i] = static_cast<char>(byte);
      const absl::StatusOr<Frame> frame = DecodeFrameBody(broken);
      if (frame.ok()) {
        EXPECT_FALSE(frame->kind().empty());
        EXPECT_FALSE(frame->DebugString().empty());
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::api
