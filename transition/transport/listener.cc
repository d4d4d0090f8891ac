#include "transition/transport/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/transport/socket.h"

namespace dynatrain::transition {
namespace {

constexpr std::chrono::milliseconds kAcceptPause{100};

absl::StatusOr<UniqueFd> MakeEvent() {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("eventfd: ", strerror(errno)));
  }
  return event;
}

void Signal(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(event, &one, sizeof(one));
}

void Clear(int event) {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = read(event, &count, sizeof(count));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LinkListener>> LinkListener::Create(
    Options options) {
  const bool v6 = options.ip.find(':') != std::string::npos;
  ASSIGN_OR_RETURN(const SocketAddress any,
                   SocketAddress::Parse(absl::StrCat(v6 ? "[" : "", options.ip,
                                                     v6 ? "]" : "", ":0")));
  ASSIGN_OR_RETURN(UniqueFd tcp, Listen(any));
  ASSIGN_OR_RETURN(const SocketAddress bound, SocketAddress::Of(tcp.get()));
  ASSIGN_OR_RETURN(UniqueFd local,
                   Listen(SocketAddress::LocalOf(options.process_id)));
  ASSIGN_OR_RETURN(UniqueFd wake, MakeEvent());
  return std::unique_ptr<LinkListener>(
      new LinkListener(std::move(options), std::move(tcp), std::move(local),
                       std::move(wake), bound.ToString()));
}

LinkListener::LinkListener(Options options, UniqueFd tcp, UniqueFd local,
                           UniqueFd wake, std::string address)
    : options_(std::move(options)),
      tcp_(std::move(tcp)),
      local_(std::move(local)),
      wake_(std::move(wake)),
      address_(std::move(address)),
      thread_([this] { Run(); }) {}

LinkListener::~LinkListener() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  Wake();
  thread_.join();
}

void LinkListener::Wake() { Signal(wake_.get()); }

Deadline LinkListener::NextDeadline() const {
  Deadline next = accept_from_.Passed() ? Deadline::Never() : accept_from_;
  for (const auto& greeting : greetings_) {
    next = std::min(next, greeting->deadline());
  }
  return next;
}

void LinkListener::Run() {
  std::vector<pollfd> fds;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (stop_) return;
    }
    const short accepting = Accepting() ? POLLIN : 0;
    fds = {{wake_.get(), POLLIN, 0},
           {tcp_.get(), accepting, 0},
           {local_.get(), accepting, 0}};
    for (const auto& greeting : greetings_) {
      fds.push_back({greeting->socket(), POLLIN, 0});
    }
    poll(fds.data(), fds.size(), NextDeadline().PollTimeoutMs());
    Clear(wake_.get());
    if (fds[1].revents != 0) Accept(tcp_.get(), /*local=*/false);
    if (fds[2].revents != 0) Accept(local_.get(), /*local=*/true);
    std::erase_if(greetings_,
                  [&](auto& greeting) { return !Advance(*greeting); });
  }
}

bool LinkListener::Accepting() const {
  return greetings_.size() < options_.max_greetings && accept_from_.Passed();
}

void LinkListener::Accept(int listener, bool local) {
  while (Accepting()) {
    UniqueFd socket(
        accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      // Out of descriptors, poll(2) would return at once for ever.
      if (errno != EAGAIN) accept_from_ = Deadline::After(kAcceptPause);
      return;
    }
    greetings_.push_back(std::make_unique<Greeting>(
        std::move(socket), local, options_.process_id, options_.key,
        Deadline::After(options_.handshake_limit)));
  }
}

bool LinkListener::Advance(Greeting& greeting) {
  absl::Status status = greeting.Advance(Deadline::After(options_.park_limit));
  if (absl::IsUnavailable(status)) return false;
  if (status.ok() && greeting.state() == Greeting::State::kProved) {
    status = Match(greeting);
    if (status.ok()) return false;
    if (absl::IsUnavailable(status) && !greeting.deadline().Passed()) {
      return true;
    }
  } else if (status.ok()) {
    if (!greeting.deadline().Passed()) return true;
    status = absl::DeadlineExceededError("the handshake took too long");
  }
  if (absl::IsUnavailable(status)) {
    status = absl::FailedPreconditionError(status.message());
  }
  greeting.Refuse(status);
  return false;
}

absl::Status LinkListener::Unexpected(const Hello& hello) {
  std::string known;
  for (const auto& [generation, expectation] : expected_) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", generation);
  }
  const bool other_attempt = expected_.contains(hello.generation);
  return absl::UnavailableError(absl::StrCat(
      "this process prepares ",
      other_attempt ? "another transition to" : "no links for", " generation ",
      hello.generation, other_attempt ? " (its id or plan differs)" : "",
      known.empty() ? "" : "; it prepares generation ", known));
}

absl::Status LinkListener::Match(Greeting& greeting) {
  const Hello& hello = greeting.hello();
  absl::MutexLock lock(&mutex_);
  const auto it = expected_.find(hello.generation);
  if (it == expected_.end() || it->second.attempt != hello.attempt) {
    return Unexpected(hello);
  }
  Expectation& expectation = it->second;
  const auto peer = expectation.peers.find(hello.dialer);
  if (peer == expectation.peers.end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "process ", absl::Hex(hello.dialer),
        " has nothing to move to or from this process in generation ",
        hello.generation));
  }
  absl::StatusOr<std::unique_ptr<Link>> link =
      greeting.Welcome(peer->second.staging_bytes, peer->second.name);
  if (!link.ok()) {
    // Not kUnavailable, which would park it.
    return absl::InternalError(link.status().message());
  }
  expectation.arrived[hello.dialer] = *std::move(link);
  Signal(expectation.arrival->get());
  return absl::OkStatus();
}

absl::Status LinkListener::Expect(uint64_t generation,
                                  const Fingerprint& attempt,
                                  ExpectedPeers peers) {
  ASSIGN_OR_RETURN(UniqueFd arrival, MakeEvent());
  Forget(generation);
  {
    absl::MutexLock lock(&mutex_);
    Expectation& expectation = expected_[generation];
    expectation.attempt = attempt;
    expectation.peers = std::move(peers);
    expectation.arrival = std::make_shared<const UniqueFd>(std::move(arrival));
  }
  Wake();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Link>> LinkListener::Take(
    uint64_t generation, uint64_t process_id, Deadline deadline,
    const Cancellation& cancel) {
  while (true) {
    std::string name;
    std::shared_ptr<const UniqueFd> arrival;
    {
      absl::MutexLock lock(&mutex_);
      const auto it = expected_.find(generation);
      if (it == expected_.end()) {
        return absl::CancelledError(absl::StrCat(
            "links of generation ", generation, " are not expected any more"));
      }
      const auto link = it->second.arrived.find(process_id);
      if (link != it->second.arrived.end()) {
        std::unique_ptr<Link> taken = std::move(link->second);
        it->second.arrived.erase(link);
        return taken;
      }
      name = it->second.peers[process_id].name;
      arrival = it->second.arrival;
      Clear(arrival->get());
    }
    pollfd fds[] = {{arrival->get(), POLLIN, 0}, {cancel.fd(), POLLIN, 0}};
    poll(fds, 2, deadline.PollTimeoutMs());
    RETURN_IF_ERROR(cancel.status(),
                    absl::StrCat("waiting for the link of ", name));
    if (deadline.Passed()) {
      return absl::DeadlineExceededError(absl::StrCat(
          name, " made no link for generation ", generation, " in time"));
    }
  }
}

void LinkListener::Forget(uint64_t generation) {
  Expectation forgotten;  // destroyed, with its links, after the lock is let go
  absl::MutexLock lock(&mutex_);
  const auto it = expected_.find(generation);
  if (it == expected_.end()) return;
  forgotten = std::move(it->second);
  expected_.erase(it);
  Signal(forgotten.arrival->get());
}

}  // namespace dynatrain::transition
