#include "api/rank/frame_reader.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

std::string Encoded(int i) {
  return EncodeFrame(Frame::Of({{"kind", "step"}, {"step", i}})).value();
}

TEST(FrameReaderTest, AnyCutOfTheStreamGivesTheSameFrames) {
  std::string stream;
  for (int i = 0; i < 5; ++i) stream += Encoded(i * 1000);
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader;
    int seen = 0;
    for (size_t at = 0; at < stream.size(); at += piece) {
      reader.Feed(absl::string_view(stream).substr(at, piece));
      while (true) {
        const std::optional<Frame> frame = reader.Next().value();
        if (!frame.has_value()) break;
        EXPECT_EQ(frame->Int("step").value(), 1000 * seen++);
      }
    }
    EXPECT_EQ(seen, 5);
    EXPECT_TRUE(reader.AtBoundary());
  }
}

TEST(FrameReaderTest, AHalfFrameIsNoBoundary) {
  FrameReader reader;
  const std::string frame = Encoded(1);
  reader.Feed(absl::string_view(frame).substr(0, 3));
  EXPECT_FALSE(reader.Next().value().has_value());
  EXPECT_FALSE(reader.AtBoundary());
}

TEST(FrameReaderTest, AnOversizedLengthIsRefusedBeforeItsBody) {
  FrameReader reader;
  reader.Feed("\xFF\xFF\xFF\xFF");
  EXPECT_EQ(reader.Next().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FrameReaderTest, StaysBrokenAfterAnError) {
  FrameReader reader;
  reader.Feed(absl::string_view("\1\0\0\0\xFF", 5));
  EXPECT_FALSE(reader.Next().ok());
  reader.Feed(Encoded(1));
  EXPECT_FALSE(reader.Next().ok());
}

}  // namespace
}  // namespace dynatrain::api
