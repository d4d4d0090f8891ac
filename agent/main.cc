// dynatrain-agent: the first process of a training container.
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/agent_state.h"
#include "agent/client/client.h"
#include "agent/config.h"
#include "agent/container_memory.h"
#include "agent/exit_code.h"
#include "agent/install.h"
#include "agent/log.h"
#include "agent/rank_server.h"
#include "agent/rpc_server.h"
#include "agent/store_router.h"
#include "agent/supervisor.h"
#include "agent/version.h"
#include "agent/worker_pool.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

constexpr char kUsage[] =
    R"(dynatrain-agent: the first process of a DynaTrain training container

usage:
  dynatrain-agent run -- COMMAND [ARGUMENT...]
      Starts DYNATRAIN_RANKS_PER_REPLICA processes of COMMAND and serves the
      operator and them until they have ended. The operator sets
      DYNATRAIN_JOB, _NAMESPACE, _JOB_UID, _SERIAL, _RANKS_PER_REPLICA, _POD_IP
      and _KEY. Optional: _AGENT_PORT (7070), _GRACE_SECONDS (120), _SOCKET
      (agent.sock beside this binary), _RESTART_TEXT.
      SIGTERM is a leave notice; other signals go to the ranks.
      Exit codes: 0 done, 86 left the layout as told, 87 dismissed, 126 cannot
      run, 2 wrong usage, else that of the rank that failed (128 + signal).
  dynatrain-agent install DIR
      Copies this binary, and lib/ and python/ beside it, into DIR.
  dynatrain-agent --version
  dynatrain-agent --help
)";

std::string SelfPath() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, size) : "/dynatrain/dynatrain-agent";
}

std::string SelfFolder() {
  const std::string self = SelfPath();
  return self.substr(0, self.rfind('/'));
}

std::optional<std::string> Variable(absl::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

absl::StatusOr<int> Run(const std::vector<std::string>& command) {
  ASSIGN_OR_RETURN(const AgentConfig config,
                   AgentConfig::Create(Variable, SelfFolder()));
  // First of all, as the threads that follow inherit the blocked signals.
  ASSIGN_OR_RETURN(const auto supervisor, Supervisor::Create());
  ASSIGN_OR_RETURN(auto ranks, RankServer::Listen(config.socket));
  StoreRouter router([&](const std::string& address) {
    return NewAgentClient(address, config.key);
  });
  auto workers = std::make_unique<WorkerPool>();
  AgentState state(config, &router, workers.get(),
                   {.wake = [&] { supervisor->Wake(); },
                    .memory = [] { return ReadContainerMemory(); }});
  ASSIGN_OR_RETURN(auto server,
                   RpcServer::Start(config.port, config.key, &state, &router));
  Log(LogLevel::kInfo,
      absl::StrCat("version=", kAgentVersion, " job=", config.job_namespace,
                   "/", config.job, " serial=", config.serial,
                   " port=", server->port()));
  ranks->Start(&state);
  absl::StatusOr<int> code = supervisor->Run(config, command, &state);
  // What waits in the store ends before the threads that wait are joined.
  router.Close(UINT64_MAX, "the agent ends");
  state.StopWaits();
  server->Stop();
  ranks.reset();
  workers.reset();
  return code;
}

int Usage(FILE* out, int code) {
  std::fputs(kUsage, out);
  return code;
}

int Report(const absl::Status& status, int code) {
  if (status.ok()) return kExitDone;
  Log(LogLevel::kError, status.message());
  return code;
}

int Main(const std::vector<std::string>& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  if (verb == "--help" || verb == "-h") return Usage(stdout, kExitDone);
  if (verb == "--version") {
    std::printf("dynatrain-agent %s\n", kAgentVersion);
    return kExitDone;
  }
  if (verb == "install" && arguments.size() == 2) {
    return Report(Install(SelfPath(), arguments[1]), kExitCannotRun);
  }
  if (verb == "run" && arguments.size() > 2 && arguments[1] == "--") {
    const absl::StatusOr<int> code =
        Run({arguments.begin() + 2, arguments.end()});
    return code.ok() ? *code : Report(code.status(), kExitCannotRun);
  }
  return Usage(stderr, kExitBadUsage);
}

}  // namespace
}  // namespace dynatrain::agent

int main(int argc, char** argv) {
  return dynatrain::agent::Main({argv + 1, argv + argc});
}
