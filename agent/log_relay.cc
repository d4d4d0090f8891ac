#include "agent/log_relay.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "agent/write_all.h"

namespace dynatrain::agent {

absl::StatusOr<std::unique_ptr<LogRelay>> LogRelay::Start(
    std::vector<Stream> streams) {
  UniqueFd finish(::eventfd(0, EFD_CLOEXEC));
  if (!finish.valid()) return absl::ErrnoToStatus(errno, "eventfd");
  auto relay =
      absl::WrapUnique(new LogRelay(std::move(streams), std::move(finish)));
  relay->thread_ = std::thread([&relay = *relay] { relay.Carry(); });
  return relay;
}

LogRelay::~LogRelay() {
  if (thread_.joinable()) Finish(std::chrono::milliseconds(0));
}

void LogRelay::Finish(std::chrono::milliseconds grace) {
  grace_ = grace;
  ::eventfd_write(finish_.get(), 1);
  thread_.join();
}

void LogRelay::Carry() {
  while (CarryOnce(Deadline::Never(), /*finishing=*/false)) {
  }
  const Deadline deadline = Deadline::After(grace_);
  while (!deadline.Passed() && CarryOnce(deadline, /*finishing=*/true)) {
  }
  for (Stream& stream : streams_) WriteAll(stream.to, stream.prefixer.Finish());
}

bool LogRelay::CarryOnce(Deadline deadline, bool finishing) {
  std::vector<pollfd> waits;
  std::vector<Stream*> ready;
  for (Stream& stream : streams_) {
    if (!stream.open) continue;
    waits.push_back({stream.from.get(), POLLIN, 0});
    ready.push_back(&stream);
  }
  if (finishing && waits.empty()) return false;
  if (!finishing) waits.push_back({finish_.get(), POLLIN, 0});
  const int count =
      ::poll(waits.data(), waits.size(), deadline.PollTimeoutMs());
  if (count == 0) return false;
  for (size_t i = 0; i < ready.size() && count > 0; ++i) {
    if (waits[i].revents == 0) continue;
    char buffer[65536];
    const ssize_t size = ::read(waits[i].fd, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size > 0) {
      WriteAll(ready[i]->to,
               ready[i]->prefixer.Feed({buffer, static_cast<size_t>(size)}));
    } else {
      ready[i]->open = false;
      WriteAll(ready[i]->to, ready[i]->prefixer.Finish());
    }
  }
  return finishing || waits.back().revents == 0;
}

}  // namespace dynatrain::agent
