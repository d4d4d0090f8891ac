#include "tests/runtime/fake_agent.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace dynatrain::runtime {
namespace {

using api::Frame;
using nlohmann::json;

absl::Duration Left(Deadline deadline) {
  return absl::FromChrono(deadline.when() - Deadline::Clock::now());
}

}  // namespace

FakeAgent::FakeAgent(std::string socket_path)
    : socket_path_(std::move(socket_path)),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, socket_path_.data(), socket_path_.size());
  unlink(socket_path_.c_str());
  EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)),
            0)
      << socket_path_ << ": " << strerror(errno);
  EXPECT_EQ(listen(listener_.get(), 64), 0);
  acceptor_ = std::thread([this] { Accept(); });
}

FakeAgent::~FakeAgent() {
  const uint64_t one = 1;
  EXPECT_EQ(write(stop_.get(), &one, sizeof(one)),
            static_cast<ssize_t>(sizeof(one)));
  acceptor_.join();
  {
    absl::MutexLock lock(&mutex_);
    for (auto& channel : channels_) channel->Cancel();
  }
  for (std::thread& server : servers_) server.join();
  unlink(socket_path_.c_str());
}

void FakeAgent::Accept() {
  while (true) {
    pollfd fds[] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    poll(fds, 2, -1);
    if (fds[0].revents != 0) return;
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    auto channel = api::FrameChannel::Create(std::move(socket), "a rank");
    if (!channel.ok()) continue;
    std::shared_ptr<api::FrameChannel> shared = *std::move(channel);
    {
      absl::MutexLock lock(&mutex_);
      channels_.push_back(shared);
    }
    servers_.emplace_back([this, shared] { Serve(shared); });
  }
}

void FakeAgent::Serve(std::shared_ptr<api::FrameChannel> channel) {
  int rank = -1;
  while (true) {
    const absl::StatusOr<Frame> frame = channel->Receive(Deadline::Never());
    if (!frame.ok()) {
      absl::MutexLock lock(&mutex_);
      if (rank >= 0 && ranks_[rank].channel == channel) {
        ranks_[rank].gone = absl::UnavailableError(
            absl::StrCat("rank ", rank, ": ", frame.status().message()));
      }
      return;
    }
    if (frame->kind() == "hello") {
      rank = static_cast<int>(frame->Uint("local_rank").value());
      absl::MutexLock lock(&mutex_);
      ranks_[rank] = Rank();
      ranks_[rank].channel = channel;
      ranks_[rank].hello = std::make_shared<Frame>(*frame);
      channel
          ->Send(Frame::Of({{"kind", "welcome"},
                            {"protocol", api::kRankProtocol},
                            {"job", "test"},
                            {"namespace", "default"},
                            {"serial", 0},
                            {"local_rank", rank},
                            {"ranks_per_replica", 1},
                            {"restart_text", ""}}),
                 Deadline::After(std::chrono::seconds(10)))
          .IgnoreError();
      continue;
    }
    Take(rank, *frame);
  }
}

json FakeAgent::StoreReply(const Frame& request) {
  const std::string op = request.Text("op").value();
  const std::string key = request.fields().at("keys").at(0);
  json reply = {{"kind", "store_reply"},
                {"id", request.Uint("id").value()},
                {"ok", true},
                {"number", 0},
                {"error", ""}};
  if (op == "set") store_[key] = request.Bytes("value").value();
  if (op == "add") {
    int64_t number = 0;
    EXPECT_TRUE(store_[key].empty() || absl::SimpleAtoi(store_[key], &number));
    number += request.Int("amount").value();
    store_[key] = absl::StrCat(number);
    reply["number"] = number;
  }
  if (op == "get") {
    reply["ok"] = store_.contains(key);
    if (!store_.contains(key)) reply["error"] = "no such key: " + key;
    reply["value"] = api::BinaryField(store_[key]);
  }
  return reply;
}

void FakeAgent::Take(int rank, const Frame& frame) {
  absl::MutexLock lock(&mutex_);
  Rank& state = ranks_[rank];
  if (frame.kind() == "step") {
    state.last_step = std::make_shared<Frame>(frame);
  } else if (frame.kind() != "store") {
    state.frames.push_back(frame);
  } else if (frame.Text("op").value() != "ignore") {
    state.channel
        ->Send(Frame::Of(StoreReply(frame)),
               Deadline::After(std::chrono::seconds(10)))
        .IgnoreError();
  }
}

absl::StatusOr<Frame> FakeAgent::Hello(int rank, Deadline deadline) {
  absl::MutexLock lock(&mutex_);
  auto came = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return ranks_[rank].hello != nullptr;
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&came), Left(deadline))) {
    return absl::DeadlineExceededError(absl::StrCat("no hello of rank ", rank));
  }
  return *ranks_[rank].hello;
}

absl::Status FakeAgent::Send(int rank, json frame) {
  std::shared_ptr<api::FrameChannel> channel;
  {
    absl::MutexLock lock(&mutex_);
    channel = ranks_[rank].channel;
  }
  return channel->Send(Frame::Of(std::move(frame)),
                       Deadline::After(std::chrono::seconds(10)));
}

absl::StatusOr<Frame> FakeAgent::Expect(int rank, absl::string_view kind,
                                        uint64_t g, Deadline deadline) {
  absl::MutexLock lock(&mutex_);
  Rank& state = ranks_[rank];
  std::deque<Frame>::iterator found;
  auto came = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (found = state.frames.begin(); found != state.frames.end(); ++found) {
      if (found->Uint("g").value_or(0) == g &&
          (found->kind() == kind || found->kind() == "failed")) {
        return true;
      }
    }
    return !state.gone.ok();
  };
  const std::string what =
      absl::StrCat("waiting for \"", kind, "\" of rank ", rank);
  if (!mutex_.AwaitWithTimeout(absl::Condition(&came), Left(deadline))) {
    return absl::DeadlineExceededError(what);
  }
  if (found == state.frames.end()) return WithContext(state.gone, what);
  const Frame frame = *found;
  state.frames.erase(found);
  if (frame.kind() == kind) return frame;
  return absl::AbortedError(
      absl::StrCat(what, ": it failed: ", frame.Text("reason").value_or("")));
}

absl::StatusOr<Frame> FakeAgent::StepAfter(int rank, uint64_t step,
                                           Deadline deadline) {
  absl::MutexLock lock(&mutex_);
  Rank& state = ranks_[rank];
  auto came = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return state.last_step != nullptr &&
           state.last_step->Uint("step").value() > step;
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&came), Left(deadline))) {
    return absl::DeadlineExceededError(
        absl::StrCat("rank ", rank, " made no step after ", step));
  }
  return *state.last_step;
}

void FakeAgent::HangUp(int rank) {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<api::FrameChannel> channel = std::move(ranks_[rank].channel);
  std::erase(channels_, channel);
  channel->Cancel();
}

}  // namespace dynatrain::runtime
