#include "api/rank/frame_reader.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dynatrain::api {
namespace {

size_t BodyBytes(absl::string_view header) {
  size_t n = 0;
  for (size_t i = 0; i < kFrameHeaderBytes; ++i) {
    n |= size_t{static_cast<uint8_t>(header[i])} << (8 * i);
  }
  return n;
}

}  // namespace

absl::StatusOr<std::optional<Frame>> FrameReader::Next() {
  if (!broken_.ok()) return broken_;
  absl::string_view unread = absl::string_view(buffer_).substr(begin_);
  if (unread.size() >= kFrameHeaderBytes) {
    const size_t body_bytes = BodyBytes(unread);
    if (body_bytes > kMaxFrameBytes) {
      broken_ = absl::InvalidArgumentError(
          absl::StrCat("a frame claims ", body_bytes, " bytes; at most ",
                       kMaxFrameBytes, " are allowed"));
      return broken_;
    }
    unread.remove_prefix(kFrameHeaderBytes);
    if (unread.size() >= body_bytes) {
      absl::StatusOr<Frame> frame =
          DecodeFrameBody(unread.substr(0, body_bytes));
      if (!frame.ok()) return broken_ = frame.status();
      begin_ += kFrameHeaderBytes + body_bytes;
      return std::optional<Frame>(*std::move(frame));
    }
  }
  // Only here, with no complete frame left, so that many small frames in one
  // read don't move the rest of the buffer once each.
  buffer_.erase(0, begin_);
  begin_ = 0;
  return std::nullopt;
}

}  // namespace dynatrain::api
