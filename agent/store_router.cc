#include "agent/store_router.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace dynatrain::agent {
namespace {

// Beyond the request's own time-out, which runs at the host.
constexpr std::chrono::milliseconds kCallMargin{5000};

}  // namespace

void StoreRouter::OpenHere(uint64_t generation) {
  Replace(generation, std::make_shared<RendezvousStore>(), nullptr);
}

void StoreRouter::OpenAt(uint64_t generation, const std::string& address) {
  absl::StatusOr<std::unique_ptr<AgentApi>> host = connect_(address);
  if (host.ok()) {
    Replace(generation, nullptr, *std::move(host));
  } else {
    Close(generation, host.status().message());
  }
}

void StoreRouter::Replace(uint64_t generation,
                          std::shared_ptr<RendezvousStore> local,
                          std::shared_ptr<AgentApi> host) {
  absl::MutexLock lock(&mutex_);
  if (generation <= closed_) return;
  open_ = generation;
  local_ = std::move(local);
  host_ = std::move(host);
  opened_.SignalAll();
}

void StoreRouter::Close(uint64_t generation, absl::string_view reason) {
  std::shared_ptr<RendezvousStore> local;
  std::shared_ptr<AgentApi> host;
  {
    absl::MutexLock lock(&mutex_);
    if (generation <= closed_) return;
    closed_ = generation;
    closed_reason_ = absl::StrCat("the store of generation ", generation,
                                  " is over: ", reason);
    if (open_ <= generation) {
      local.swap(local_);
      host.swap(host_);
      open_ = 0;
    }
    opened_.SignalAll();
  }
  if (local != nullptr) local->Close(reason);
  if (host != nullptr) host->CancelCalls();
}

std::string StoreRouter::NotOpen(uint64_t generation) const {
  if (generation <= closed_) return absl::StrCat("closed: ", closed_reason_);
  if (generation != open_) {
    return absl::StrCat("invalid: no transition to generation ", generation,
                        " is prepared here");
  }
  return "";
}

StoreReply StoreRouter::FromRank(const StoreRequest& request) {
  std::shared_ptr<RendezvousStore> local;
  std::shared_ptr<AgentApi> host;
  {
    absl::MutexLock lock(&mutex_);
    if (std::string error = NotOpen(request.generation); !error.empty()) {
      return StoreError(std::move(error));
    }
    local = local_;
    host = host_;
  }
  if (local != nullptr) return local->Call(request);
  absl::StatusOr<StoreReply> reply =
      host->Store(request, Deadline::After(request.timeout + kCallMargin));
  if (reply.ok()) return *std::move(reply);
  absl::MutexLock lock(&mutex_);
  if (std::string error = NotOpen(request.generation); !error.empty()) {
    return StoreError(std::move(error));
  }
  return StoreError(absl::StrCat("unavailable: ", reply.status().message()));
}

StoreReply StoreRouter::FromAgent(const StoreRequest& request) {
  std::shared_ptr<RendezvousStore> local;
  const absl::Time until = absl::Now() + absl::FromChrono(request.timeout);
  StoreRequest rest = request;
  {
    absl::MutexLock lock(&mutex_);
    while (request.generation > std::max(open_, closed_)) {
      if (opened_.WaitWithDeadline(&mutex_, until)) break;
    }
    if (std::string error = NotOpen(request.generation); !error.empty()) {
      return StoreError(std::move(error));
    }
    local = local_;
    rest.timeout = std::max(absl::ToChronoMilliseconds(until - absl::Now()),
                            std::chrono::milliseconds(0));
  }
  if (local == nullptr) {
    return StoreError(absl::StrCat("invalid: the store of generation ",
                                   request.generation,
                                   " is hosted by another agent"));
  }
  return local->Call(rest);
}

}  // namespace dynatrain::agent
