// A connected Unix stream socket that carries frames, with blocking calls.
#ifndef API_RANK_FRAME_CHANNEL_H_
#define API_RANK_FRAME_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/rank/frame.h"
#include "api/rank/frame_reader.h"
#include "base/deadline.h"
#include "base/unique_fd.h"

namespace dynatrain::api {

// Thread-safe: any number of senders, one receiver at a time.
//
// Errors of both directions: kUnavailable when the other side is gone,
// kDeadlineExceeded when `deadline` passes, kCancelled after Cancel(),
// kInvalidArgument for bytes that are no frame. After any error but a
// receiver's kDeadlineExceeded the stream may be cut inside a frame: close it.
class FrameChannel {
 public:
  // Connects to the socket file `path`.
  static absl::StatusOr<std::unique_ptr<FrameChannel>> Connect(
      const std::string& path, Deadline deadline);
  // Takes over a connected stream socket; `peer` names the other side in
  // errors.
  static absl::StatusOr<std::unique_ptr<FrameChannel>> Create(
      UniqueFd socket, absl::string_view peer);

  // Sends the whole frame; two senders' frames never mix.
  absl::Status Send(const Frame& frame, Deadline deadline)
      ABSL_LOCKS_EXCLUDED(send_mutex_);

  absl::StatusOr<Frame> Receive(Deadline deadline)
      ABSL_LOCKS_EXCLUDED(receive_mutex_);

  // Makes all present and later calls return kCancelled. Safe from any thread.
  void Cancel();

 private:
  FrameChannel(UniqueFd socket, UniqueFd cancel, absl::string_view peer);
  // Waits until `events` of the socket are there.
  absl::Status Wait(short events, Deadline deadline, absl::string_view what);

  const UniqueFd socket_;
  const UniqueFd cancel_;  // eventfd: readable once cancelled
  const std::string peer_;
  absl::Mutex send_mutex_;
  absl::Mutex receive_mutex_;
  FrameReader reader_ ABSL_GUARDED_BY(receive_mutex_);
};

}  // namespace dynatrain::api

#endif  // API_RANK_FRAME_CHANNEL_H_
