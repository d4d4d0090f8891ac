// The connection of one rank process: what is posted to it goes out in order,
// without making whoever posts wait.
#ifndef AGENT_RANK_LINK_H_
#define AGENT_RANK_LINK_H_

#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "api/rank/frame.h"
#include "api/rank/frame_channel.h"

namespace dynatrain::agent {

// Thread-safe.
class RankLink {
 public:
  explicit RankLink(std::unique_ptr<api::FrameChannel> channel);
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;
  // Cuts the connection; what is still queued is dropped.
  ~RankLink();

  // Queues `frame`. A frame that can't be sent within 30 s cuts the connection:
  // the rank doesn't read.
  void Post(api::Frame frame) ABSL_LOCKS_EXCLUDED(mutex_);

  // The next frame from the rank, by one caller at a time.
  absl::StatusOr<api::Frame> Receive(Deadline deadline) {
    return channel_->Receive(deadline);
  }

  // Receive and the sending thread end, now and later.
  void Cut() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void SendAll() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::unique_ptr<api::FrameChannel> channel_;
  absl::Mutex mutex_;
  std::deque<api::Frame> queue_ ABSL_GUARDED_BY(mutex_);
  bool cut_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread sender_;
};

}  // namespace dynatrain::agent

#endif  // AGENT_RANK_LINK_H_
