#include "agent/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "agent/exit_code.h"
#include "agent/log.h"
#include "agent/rank_process.h"
#include "base/deadline.h"
#include "base/status_macros.h"

extern char** environ;

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Passed on to the ranks as they come.
constexpr int kForwarded[] = {SIGHUP,  SIGINT,  SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGWINCH};
// The ranks get SIGTERM this long before the pod's grace ends.
constexpr seconds kBeforeGraceEnds{3};
// Whoever holds a dead rank's output open may write for this long.
constexpr milliseconds kLastOutput{500};

int CodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

// What follows an ending: after how long which signal.
std::vector<std::pair<milliseconds, int>> PushesFor(Ending::Kind kind) {
  switch (kind) {
    case Ending::Kind::kLeft:
      return {{seconds(10), SIGTERM}, {seconds(15), SIGKILL}};
    case Ending::Kind::kDismissed:
      return {{seconds(5), SIGTERM}, {seconds(10), SIGKILL}};
    case Ending::Kind::kGraceOver:
      return {{seconds(0), SIGTERM}, {milliseconds(2500), SIGKILL}};
    case Ending::Kind::kRankFailed:
      return {{seconds(0), SIGTERM}, {seconds(5), SIGKILL}};
  }
  return {};
}

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    entries.push_back(*entry);
  }
  return entries;
}

}  // namespace

int ExitCode(const std::vector<int>& codes, std::optional<int> first_failure,
             const std::optional<Ending>& ending) {
  if (ending && ending->kind == Ending::Kind::kDismissed) return kExitDismissed;
  if (ending && ending->kind == Ending::Kind::kLeft) return kExitLeft;
  if (first_failure) return *first_failure;
  const auto failed = std::find_if(codes.begin(), codes.end(),
                                   [](int code) { return code != kExitDone; });
  return failed == codes.end() ? kExitDone : *failed;
}

absl::StatusOr<std::unique_ptr<Supervisor>> Supervisor::Create() {
  sigset_t received;
  sigemptyset(&received);
  sigaddset(&received, SIGCHLD);
  sigaddset(&received, SIGTERM);
  for (int signal : kForwarded) sigaddset(&received, signal);
  sigset_t blocked = received;
  sigaddset(&blocked, SIGPIPE);  // a reader that is gone is an error of write
  if (pthread_sigmask(SIG_BLOCK, &blocked, nullptr) != 0) {
    return absl::ErrnoToStatus(errno, "blocking signals");
  }
  UniqueFd signals(::signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!signals.valid() || !wake.valid()) {
    return absl::ErrnoToStatus(errno, "signalfd or eventfd");
  }
  // Where it isn't the container's first process, orphans come here all the
  // same.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return absl::WrapUnique(new Supervisor(std::move(signals), std::move(wake)));
}

void Supervisor::Wake() { ::eventfd_write(wake_.get(), 1); }

absl::StatusOr<int> Supervisor::Run(const AgentConfig& config,
                                    const std::vector<std::string>& command,
                                    AgentState* state) {
  state_ = state;
  grace_ = config.grace;
  RETURN_IF_ERROR(StartAll(config, command));
  while (!AllEnded()) {
    WaitForEvent();
    Reap();
    const Clock::time_point now = Clock::now();
    state_->Tick(now);
    for (int rank : state_->TakeUnruly()) SignalRank(rank, SIGKILL);
    OnEnding();
    PushOn(now);
  }
  relay_->Finish(kLastOutput);
  std::vector<int> codes;
  for (const Child& child : children_) codes.push_back(*child.code);
  return ExitCode(codes, first_failure_, state_->ending());
}

absl::Status Supervisor::StartAll(const AgentConfig& config,
                                  const std::vector<std::string>& command) {
  const std::vector<std::string> own = OwnEnvironment();
  std::vector<LogRelay::Stream> streams;
  for (int rank = 0; rank < config.ranks_per_replica; ++rank) {
    absl::StatusOr<RankProcess> process =
        StartRank(command, RankEnvironment(config, rank, own));
    if (!process.ok()) {
      for (size_t i = 0; i < children_.size(); ++i) SignalRank(i, SIGKILL);
      return process.status();
    }
    children_.push_back({.pid = process->pid});
    state_->RankStarted(rank, process->pid);
    const LinePrefixer prefixer(absl::StrCat("[", rank, "] "));
    streams.push_back({std::move(process->output), STDOUT_FILENO, prefixer});
    streams.push_back({std::move(process->error), STDERR_FILENO, prefixer});
  }
  ASSIGN_OR_RETURN(relay_, LogRelay::Start(std::move(streams)));
  return absl::OkStatus();
}

bool Supervisor::AllEnded() const {
  return std::all_of(children_.begin(), children_.end(),
                     [](const Child& child) { return child.code.has_value(); });
}

void Supervisor::WaitForEvent() {
  Clock::time_point until =
      state_->next_deadline().value_or(Clock::time_point::max());
  if (!pushes_.empty()) until = std::min(until, pushes_.front().when);
  pollfd waits[] = {{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  ::poll(waits, 2, Deadline::At(until).PollTimeoutMs());
  eventfd_t ignored;
  ::eventfd_read(wake_.get(), &ignored);
  signalfd_siginfo signal;
  while (::read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal)) {
    OnSignal(static_cast<int>(signal.ssi_signo));
  }
}

void Supervisor::OnSignal(int signal) {
  if (signal == SIGCHLD) return;  // Reap looks each time
  if (signal == SIGTERM) {
    state_->Leave(Clock::now() +
                  std::max(grace_ - kBeforeGraceEnds, seconds(0)));
    return;
  }
  for (size_t rank = 0; rank < children_.size(); ++rank) {
    SignalRank(rank, signal);
  }
}

void Supervisor::Reap() {
  int wait_status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0;) {
    for (size_t rank = 0; rank < children_.size(); ++rank) {
      Child& child = children_[rank];
      if (child.pid != pid) continue;
      child.code = CodeOf(wait_status);
      // Its own children can't train without it. They are still its group.
      ::kill(-pid, SIGKILL);
      state_->RankExited(static_cast<int>(rank), *child.code);
      const std::optional<Ending> ending = state_->ending();
      if (ending && ending->kind == Ending::Kind::kRankFailed &&
          !first_failure_) {
        first_failure_ = child.code;
      }
      Log(LogLevel::kInfo,
          absl::StrCat("rank=", rank, " pid=", pid, " code=", *child.code));
    }
  }
}

void Supervisor::OnEnding() {
  const std::optional<Ending> ending = state_->ending();
  if (!ending || ending_seen_) return;
  ending_seen_ = true;
  for (const auto& [after, signal] : PushesFor(ending->kind)) {
    pushes_.push_back({Clock::now() + after, signal});
  }
}

void Supervisor::PushOn(Clock::time_point now) {
  while (!pushes_.empty() && pushes_.front().when <= now) {
    for (size_t rank = 0; rank < children_.size(); ++rank) {
      SignalRank(rank, pushes_.front().signal);
    }
    pushes_.erase(pushes_.begin());
  }
}

void Supervisor::SignalRank(int rank, int signal) {
  const Child& child = children_[rank];
  if (!child.code) ::kill(-child.pid, signal);
}

}  // namespace dynatrain::agent
