#include "tests/runtime/job_testutil.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace dynatrain::runtime {
namespace {

using api::Frame;
using nlohmann::json;

constexpr char kKey[] = "00112233445566778899aabbccddeeff";

Deadline Soon() { return Deadline::After(std::chrono::seconds(60)); }

json WorldJson(const TestJob& job, const TestWorld& world) {
  json members = json::array();
  for (const Place& place : world.places) {
    if (members.empty() || members.back()["serial"] != place.serial) {
      members.push_back({{"serial", place.serial},
                         {"agent_address", "127.0.0.1:7070"},
                         {"ranks", json::array()}});
    }
    members.back()["ranks"].push_back(
        {{"process_id", job.process_id(place.process)},
         {"data_address", job.data_address(place.process)}});
  }
  return {{"generation", world.generation},
          {"layout", world.layout},
          {"members", members}};
}

uint64_t Number(const Frame& frame, const char* field) {
  uint64_t number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(frame.Text(field).value(), &number));
  return number;
}

}  // namespace

std::string RunfilePath(const std::string& path) {
  const char* root = getenv("TEST_SRCDIR");
  return root == nullptr ? path : absl::StrCat(root, "/dynatrain/", path);
}

TestJob::TestJob(int num_processes, std::map<int, std::string> keys) {
  // Not TEST_TMPDIR: a socket's path may have 107 bytes only.
  agent_ = std::make_unique<FakeAgent>(
      absl::StrCat("/tmp/dynatrain-test-", getpid(), ".sock"));
  pids_.resize(num_processes, -1);
  for (int i = 0; i < num_processes; ++i) {
    Start(i, keys.contains(i) ? keys[i] : kKey);
  }
  for (int i = 0; i < num_processes; ++i) {
    const Frame hello = agent_->Hello(i, Soon()).value();
    process_ids_.push_back(hello.Uint("process_id").value());
    data_addresses_.push_back(hello.Text("data_address").value());
    EXPECT_EQ(hello.Int("pid").value(), pids_[i]);
  }
}

void TestJob::Start(int process, const std::string& key) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.push_back(*entry);
  }
  environment.push_back(
      absl::StrCat("DYNATRAIN_SOCKET=", agent_->socket_path()));
  environment.push_back(absl::StrCat("DYNATRAIN_LOCAL_RANK=", process));
  environment.push_back("DYNATRAIN_POD_IP=127.0.0.1");
  environment.push_back(absl::StrCat("DYNATRAIN_KEY=", key));
  std::vector<char*> envp;
  for (std::string& entry : environment) envp.push_back(entry.data());
  envp.push_back(nullptr);
  std::string program = RunfilePath("tests/runtime/rank_main");
  std::string library = RunfilePath("agent/runtime/libdynatrain.so");
  char* argv[] = {program.data(), library.data(), nullptr};
  ASSERT_EQ(posix_spawn(&pids_[process], program.c_str(), nullptr, nullptr,
                        argv, envp.data()),
            0);
}

TestJob::~TestJob() {
  for (pid_t pid : pids_) {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
}

void TestJob::Kill(int process) {
  kill(pids_[process], SIGKILL);
  WaitForExit(process);
}

int TestJob::WaitForExit(int process) {
  int status = 0;
  EXPECT_EQ(waitpid(pids_[process], &status, 0), pids_[process]);
  pids_[process] = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::set<int> TestJob::Sources(const Order& order) {
  std::set<int> processes;
  for (const Place& place : order.source.places) {
    processes.insert(place.process);
  }
  return processes;
}

std::set<int> TestJob::Everyone(const Order& order) {
  std::set<int> processes = Sources(order);
  for (const Place& place : order.target.places) {
    processes.insert(place.process);
  }
  return processes;
}

json TestJob::TransitionJson(const Order& order) const {
  return {{"id", absl::StrCat("t", order.target.generation)},
          {"generation", order.target.generation},
          {"source", WorldJson(*this, order.source)},
          {"target", WorldJson(*this, order.target)},
          {"manifest", order.source.places.empty() ? "" : order.manifest},
          {"test_manifest", order.manifest},
          {"options",
           {{"seed", 1},
            {"memory_limit_bytes", 0},
            {"memory_used_bytes", 0},
            {"transfer_deadline_ms", order.transfer_deadline_ms}}}};
}

void TestJob::Tell(const std::set<int>& processes, const char* kind,
                   uint64_t generation) {
  for (int process : processes) {
    const absl::Status sent =
        agent_->Send(process, {{"kind", kind}, {"g", generation}});
    EXPECT_TRUE(sent.ok()) << sent;
  }
}

absl::StatusOr<std::map<int, Frame>> TestJob::Await(
    const std::set<int>& processes, const char* kind, uint64_t generation) {
  std::map<int, Frame> frames;
  for (int process : processes) {
    ASSIGN_OR_RETURN(Frame frame,
                     agent_->Expect(process, kind, generation, Soon()));
    frames.emplace(process, std::move(frame));
  }
  return frames;
}

void TestJob::Prepare(const Order& order, const std::set<int>& processes) {
  const json transition = TransitionJson(order);
  for (int process : processes) {
    const absl::Status sent = agent_->Send(
        process, {{"kind", "prepare"}, {"transition", transition}});
    EXPECT_TRUE(sent.ok()) << sent;
  }
}

absl::Status TestJob::AwaitPrepared(const Order& order) {
  ASSIGN_OR_RETURN((const std::map<int, Frame> frames),
                   Await(Everyone(order), "prepared", order.target.generation));
  uint64_t sent = 0, received = 0;
  for (const auto& [process, frame] : frames) {
    sent += Number(frame, "sent_hash");
    received += Number(frame, "received_hash");
    EXPECT_EQ(frame.Text("plan_digest").value(),
              frames.begin()->second.Text("plan_digest").value());
    EXPECT_EQ(frame.Uint("moved_bytes").value(),
              frame.Uint("minimal_bytes").value());
  }
  EXPECT_EQ(sent, received);
  return absl::OkStatus();
}

absl::Status TestJob::Arm(const Order& order) {
  const uint64_t generation = order.target.generation;
  const std::set<int> sources = Sources(order);
  uint64_t seen = 0;
  for (int process : sources) {
    ASSIGN_OR_RETURN(const Frame step, agent_->StepAfter(process, 0, Soon()));
    seen = std::max(seen, step.Uint("step").value());
  }
  // As the operator does: a rank that is past the step refuses, and it is
  // taken back and tried again further on.
  for (uint64_t ahead = 20;; ahead *= 2) {
    for (int process : sources) {
      RETURN_IF_ERROR(agent_->Send(
          process,
          {{"kind", "arm"}, {"g", generation}, {"step", seen + ahead}}));
    }
    bool all = true;
    ASSIGN_OR_RETURN((const std::map<int, Frame> answers),
                     Await(sources, "armed", generation));
    for (const auto& [process, answer] : answers) {
      all = all && answer.Bool("ok").value();
      seen = std::max(seen, answer.Uint("seen").value());
    }
    if (all) break;
    Tell(sources, "cancel", generation);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<int, Frame>> TestJob::Run(const Order& order) {
  const uint64_t generation = order.target.generation;
  Prepare(order);
  RETURN_IF_ERROR(AwaitPrepared(order));
  if (!order.source.places.empty()) RETURN_IF_ERROR(Arm(order));
  Tell(Everyone(order), "go", generation);
  RETURN_IF_ERROR(Await(Everyone(order), "verified", generation).status());
  Tell(Everyone(order), "commit", generation);
  std::map<int, Frame> last;
  std::set<int> targets;
  for (const Place& place : order.target.places) targets.insert(place.process);
  for (int process : Everyone(order)) {
    ASSIGN_OR_RETURN(
        Frame frame,
        agent_->Expect(process, targets.contains(process) ? "resumed" : "left",
                       generation, Soon()));
    const std::string check = frame.Text("check").value();
    if (!check.empty()) {
      return absl::DataLossError(
          absl::StrCat("process ", process, ": wrong: ", check));
    }
    last.emplace(process, std::move(frame));
  }
  return last;
}

absl::StatusOr<json> TestJob::AwaitKept(int process, uint64_t generation) {
  uint64_t after = 0;
  while (true) {
    ASSIGN_OR_RETURN(const Frame step,
                     agent_->StepAfter(process, after, Soon()));
    after = step.Uint("step").value();
    const json said = json::parse(step.Text("text").value(), nullptr, false);
    if (said.is_object() && said.at("kept") == generation) return said;
  }
}

}  // namespace dynatrain::runtime
