// Cuts a byte stream into frames, however the bytes arrive.
#ifndef API_RANK_FRAME_READER_H_
#define API_RANK_FRAME_READER_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/rank/frame.h"

namespace dynatrain::api {

// Holds at most one incomplete frame plus what was fed with it. After an error
// the stream has no frame boundary any more: drop the connection.
class FrameReader {
 public:
  void Feed(absl::string_view bytes) {
    buffer_.append(bytes.data(), bytes.size());
  }

  // The next complete frame, or nullopt if more bytes are needed. Returns
  // kInvalidArgument if the length passes kMaxFrameBytes (before its body is
  // awaited) or the body isn't a frame; then every later call does, too.
  absl::StatusOr<std::optional<Frame>> Next();

  // True if the stream may end here without cutting a frame.
  bool AtBoundary() const { return begin_ == buffer_.size(); }

 private:
  std::string buffer_;
  size_t begin_ = 0;  // of the first unread byte in buffer_
  absl::Status broken_;
};

}  // namespace dynatrain::api

#endif  // API_RANK_FRAME_READER_H_
