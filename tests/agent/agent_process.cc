#include "tests/agent/agent_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/client/client.h"
#include "agent/rank_process.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "AgentProcess: %s\n", why.c_str());
  std::abort();
}

std::string Binary(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr) Die(absl::StrCat(variable, " is not set"));
  return fs::absolute(path);
}

// What this test was told of sanitizers holds for what it starts.
std::vector<std::string> SanitizerOptions() {
  std::vector<std::string> set;
  for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      set.push_back(absl::StrCat(name, "=", value));
    }
  }
  return set;
}

size_t CountEntries(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

}  // namespace

AgentProcess::AgentProcess(Options options) : options_(std::move(options)) {
  static int count = 0;
  // A socket's path is short; a sandbox's isn't.
  socket_ = absl::StrCat("/tmp/dt-agent-", getpid(), "-", count++, ".sock");
  std::vector<std::string> command = {Binary("AGENT_BINARY"), "run", "--"};
  if (options_.command.empty()) {
    command.push_back(Binary("FAKE_RANK_BINARY"));
  } else {
    command.insert(command.end(), options_.command.begin(),
                   options_.command.end());
  }
  std::vector<std::string> environment = SanitizerOptions();
  environment.insert(
      environment.end(),
      {"DYNATRAIN_JOB=job", "DYNATRAIN_NAMESPACE=test", "DYNATRAIN_JOB_UID=uid",
       absl::StrCat("DYNATRAIN_SERIAL=", options_.serial),
       absl::StrCat("DYNATRAIN_RANKS_PER_REPLICA=", options_.ranks),
       "DYNATRAIN_POD_IP=127.0.0.1", absl::StrCat("DYNATRAIN_KEY=", kTestKey),
       "DYNATRAIN_AGENT_PORT=0",
       absl::StrCat("DYNATRAIN_GRACE_SECONDS=", options_.grace_seconds),
       absl::StrCat("DYNATRAIN_SOCKET=", socket_),
       absl::StrCat("FAKE_RANK=", options_.tricks), "PATH=/usr/bin:/bin"});
  auto process = StartRank(command, environment);
  if (!process.ok()) Die(process.status().ToString());
  pid_ = process->pid;
  files_[0] = process->output.Release();
  files_[1] = process->error.Release();
  for (int stream : {0, 1}) {
    readers_.emplace_back([this, stream] { Read(stream); });
  }
  AwaitLine(" port=");
  const std::string output = Output();
  const size_t at = output.find(" port=") + 6;
  if (!absl::SimpleAtoi(output.substr(at, output.find('\n', at) - at),
                        &port_)) {
    Die(output);
  }
  auto client = NewAgentClient(address(), kTestKey);
  if (!client.ok()) Die(client.status().ToString());
  api_ = *std::move(client);
}

AgentProcess::~AgentProcess() {
  if (!reaped_) {
    // Its ranks are groups of their own; it tells us which.
    auto seen =
        api_->Observe(0, milliseconds(0), Deadline::After(milliseconds(1000)));
    ::kill(pid_, SIGKILL);
    if (seen.ok()) {
      for (const RankObservation& rank : seen->ranks) {
        if (rank.os_pid > 0 && rank.state != RankState::kExited) {
          ::kill(-static_cast<pid_t>(rank.os_pid), SIGKILL);
        }
      }
    }
    ::waitpid(pid_, nullptr, 0);
  }
  for (std::thread& reader : readers_) reader.join();
  for (int fd : files_) ::close(fd);
  ::unlink(socket_.c_str());
}

std::string AgentProcess::address() const {
  return absl::StrCat("127.0.0.1:", port_);
}

void AgentProcess::Read(int stream) {
  char buffer[4096];
  ssize_t size;
  while ((size = ::read(files_[stream], buffer, sizeof(buffer))) > 0) {
    absl::MutexLock lock(&mutex_);
    text_[stream].append(buffer, size);
  }
}

std::string AgentProcess::Output() {
  absl::MutexLock lock(&mutex_);
  return text_[0] + text_[1];
}

void AgentProcess::AwaitLine(const std::string& text) {
  absl::MutexLock lock(&mutex_);
  const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const std::string& stream : text_) {
      const size_t at = stream.find(text);
      if (at != std::string::npos &&
          stream.find('\n', at) != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&there),
                               absl::FromChrono(kPatience))) {
    Die(absl::StrCat("no line with '", text, "' in:\n", text_[0], text_[1]));
  }
}

Observation AgentProcess::Look() {
  auto seen = api_->Observe(0, milliseconds(0), Deadline::After(kPatience));
  if (!seen.ok()) Die(absl::StrCat(seen.status().ToString(), "\n", Output()));
  return *std::move(seen);
}

Observation AgentProcess::Await(
    const std::string& what,
    const std::function<bool(const Observation&)>& wanted) {
  const Deadline deadline = Deadline::After(kPatience);
  uint64_t version = 0;
  while (!deadline.Passed()) {
    auto seen = api_->Observe(version, milliseconds(1000), deadline);
    if (!seen.ok()) {
      Die(absl::StrCat(what, ": ", seen.status().ToString(), "\n", Output()));
    }
    if (wanted(*seen)) return *std::move(seen);
    version = seen->version;
  }
  Die(absl::StrCat("serial ", serial(), " never saw: ", what, "\n", Output()));
}

Observation AgentProcess::AwaitHello() {
  return Await("hello of all ranks", [](const Observation& seen) {
    for (const RankObservation& rank : seen.ranks) {
      if (rank.process_id == 0) return false;
    }
    return true;
  });
}

Observation AgentProcess::AwaitPhase(transition::Phase phase) {
  return Await(std::string(transition::PhaseName(phase)),
               [phase](const Observation& seen) {
                 return seen.transition.phase == phase;
               });
}

void AgentProcess::Signal(int signal) { ::kill(pid_, signal); }

int AgentProcess::AwaitExit() {
  const UniqueFd process(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd ended{process.get(), POLLIN, 0};
  if (::poll(&ended, 1, Deadline::After(kPatience).PollTimeoutMs()) != 1) {
    Die(absl::StrCat("serial ", serial(), " does not end:\n", Output()));
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  for (std::thread& reader : readers_) reader.join();
  readers_.clear();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Member AgentProcess::AsMember() {
  Member member{serial(), address(), {}};
  for (const RankObservation& rank : AwaitHello().ranks) {
    member.ranks.push_back({rank.process_id, rank.data_address});
  }
  return member;
}

int AgentProcess::CountThreads() const {
  return CountEntries(absl::StrCat("/proc/", pid_, "/task"));
}

int AgentProcess::CountFiles() const {
  return CountEntries(absl::StrCat("/proc/", pid_, "/fd"));
}

}  // namespace dynatrain::agent
