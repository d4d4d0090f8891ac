#include "agent/rank_link.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/log.h"

namespace dynatrain::agent {
namespace {

constexpr std::chrono::seconds kSendDeadline{30};

}  // namespace

RankLink::RankLink(std::unique_ptr<api::FrameChannel> channel)
    : channel_(std::move(channel)), sender_([this] { SendAll(); }) {}

RankLink::~RankLink() {
  Cut();
  sender_.join();
}

void RankLink::Post(api::Frame frame) {
  absl::MutexLock lock(&mutex_);
  queue_.push_back(std::move(frame));
}

void RankLink::Cut() {
  {
    absl::MutexLock lock(&mutex_);
    cut_ = true;
  }
  channel_->Cancel();
}

void RankLink::SendAll() {
  while (true) {
    mutex_.Lock();
    const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return cut_ || !queue_.empty();
    };
    mutex_.Await(absl::Condition(&ready));
    if (cut_) {
      mutex_.Unlock();
      return;
    }
    const api::Frame frame = std::move(queue_.front());
    queue_.pop_front();
    mutex_.Unlock();
    const absl::Status status =
        channel_->Send(frame, Deadline::After(kSendDeadline));
    if (!status.ok()) {
      Log(LogLevel::kWarning, absl::StrCat("sending '", frame.kind(),
                                           "' to a rank: ", status.ToString()));
      Cut();
      return;
    }
  }
}

}  // namespace dynatrain::agent
