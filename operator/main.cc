// dynatrain-operator: watches ElasticTrainingJobs and keeps them as wished.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/client/client.h"
#include "base/status_macros.h"
#include "operator/driver/driver.h"
#include "operator/driver/fail_points.h"
#include "operator/driver/job_key.h"
#include "operator/health_server.h"
#include "operator/kube/credentials.h"
#include "operator/kube/http_client.h"
#include "operator/kube/kubeconfig.h"
#include "operator/kube/log_text.h"
#include "operator/reconcile/decide.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

ABSL_FLAG(std::string, namespace, "",
          "watch only this namespace (needs a Role there); empty: all");
ABSL_FLAG(std::string, kubeconfig, "",
          "a kubeconfig file, for development; empty: the service account of "
          "the pod that this runs in");
ABSL_FLAG(std::string, root_secret_file, "/etc/dynatrain/root-secret",
          "file with the secret that all jobs' keys are derived from, at least "
          "16 bytes");
ABSL_FLAG(std::string, agent_image, "",
          "image that brings agent, runtime and Python package into the pods "
          "of new jobs (required)");
ABSL_FLAG(int, agent_port, 7070, "port that the agents serve");
ABSL_FLAG(std::string, health_address, ":8081",
          "where /healthz and /readyz are served");
ABSL_FLAG(absl::Duration, api_timeout, absl::Seconds(15),
          "a request to the API server takes at most this, with all attempts");
ABSL_FLAG(int, workers, 4, "how many jobs are looked at at once");
ABSL_FLAG(absl::Duration, stand_aside, absl::Minutes(1),
          "for so long this operator is silent about a job that another one "
          "took over; then it ends, to begin anew: the other may be gone");
ABSL_FLAG(std::string, log_level, "info", "debug, info, warn or error");
ABSL_FLAG(std::vector<std::string>, failpoint, {},
          "for fault tests: comma-separated PLACE=kill or PLACE=stop, each "
          "with @FILE after it to act only once; places are "
          "{before,after}-write-{Term,Status,Planned,Draining,Committed,"
          "Released,Aborted,Superseded}, {before,after}-{create,delete}-pod, "
          "{before,amid,after}-send-{Greet,Prepare,Arm,Go,Cancel,Abort,Commit,"
          "Dismiss}");
ABSL_FLAG(bool, allow_failpoints, false, "without it --failpoint is refused");

namespace dynatrain::control {
namespace {

void SetUpFlags() {
  absl::SetProgramUsageMessage(
      "resizes running training jobs on Kubernetes.\n\nUsage: "
      "dynatrain-operator --agent-image=IMAGE [flags]\n\nFlags may be "
      "written with dashes or underscores.");
  absl::FlagsUsageConfig config;
  const auto ours = [](absl::string_view file) {
    return absl::EndsWith(file, "operator/main.cc");
  };
  config.contains_help_flags = ours;
  config.contains_helpshort_flags = ours;
  absl::SetFlagsUsageConfig(config);
}

// A flag may be written with dashes, as all of Kubernetes does.
std::vector<char*> WithUnderscores(int argc, char** argv,
                                   std::vector<std::string>& storage) {
  storage.assign(argv, argv + argc);
  std::vector<char*> result;
  for (std::string& argument : storage) {
    if (&argument != &storage[0] && absl::StartsWith(argument, "--")) {
      for (size_t i = 2; i < argument.size() && argument[i] != '='; ++i) {
        if (argument[i] == '-') argument[i] = '_';
      }
    }
    result.push_back(argument.data());
  }
  return result;
}

// One line per record: key=value, so that it can be searched and parsed.
absl::Status SetUpLog() {
  const std::string level = absl::GetFlag(FLAGS_log_level);
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--log-level ", level, " should be debug, info, warn or error"));
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("operator"));
  spdlog::set_pattern("time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v",
                      spdlog::pattern_time_type::utc);
  spdlog::set_level(parsed);
  spdlog::flush_on(spdlog::level::info);
  return absl::OkStatus();
}

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

absl::StatusOr<FailPoints> FailPointsOfFlags() {
  const std::vector<std::string> specs = absl::GetFlag(FLAGS_failpoint);
  if (!specs.empty() && !absl::GetFlag(FLAGS_allow_failpoints)) {
    return absl::InvalidArgumentError(
        "--failpoint ends or stops this process; it needs --allow-failpoints");
  }
  return FailPoints::Create(specs);
}

// To ourselves: the process is to end, and be started again.
constexpr int kBeginAnew = SIGUSR1;

absl::StatusOr<DriverOptions> OptionsOfFlags() {
  DriverOptions options;
  options.self = {.name = HostName(),
                  .agent_image = absl::GetFlag(FLAGS_agent_image),
                  .agent_port = absl::GetFlag(FLAGS_agent_port)};
  options.ns = absl::GetFlag(FLAGS_namespace);
  options.workers = absl::GetFlag(FLAGS_workers);
  options.stand_aside = absl::GetFlag(FLAGS_stand_aside);
  options.begin_anew = [] { kill(getpid(), kBeginAnew); };
  if (options.self.agent_image.empty()) {
    return absl::InvalidArgumentError("--agent-image is required");
  }
  if (options.self.agent_port < 1 || options.self.agent_port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--agent-port ", options.self.agent_port, " should be 1 to 65535"));
  }
  if (options.workers < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--workers ", options.workers, " should be at least 1"));
  }
  if (options.stand_aside <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--stand-aside ", absl::FormatDuration(options.stand_aside),
        " should be more than 0"));
  }
  ASSIGN_OR_RETURN(options.fail_points, FailPointsOfFlags());
  return options;
}

absl::StatusOr<CredentialSources> Sources() {
  const std::string path = absl::GetFlag(FLAGS_kubeconfig);
  return path.empty() ? InClusterSources() : LoadKubeconfig(path);
}

sigset_t EndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, kBeginAnew}) sigaddset(&signals, signal);
  return signals;
}

// Runs until SIGTERM or SIGINT, or until a job was another operator's for too
// long (kAborted). REQUIRES: EndSignals() are blocked in all threads.
absl::Status Run() {
  RETURN_IF_ERROR(SetUpLog());
  ASSIGN_OR_RETURN(DriverOptions options, OptionsOfFlags());
  ASSIGN_OR_RETURN(JobKeys keys,
                   JobKeys::FromFile(absl::GetFlag(FLAGS_root_secret_file)));
  ASSIGN_OR_RETURN(CredentialSources sources, Sources());
  HttpKubeClient client(std::make_shared<Credentials>(std::move(sources)),
                        {.deadline = absl::GetFlag(FLAGS_api_timeout)});
  Driver driver(&client, std::move(keys), agent::NewAgentClient, Decide,
                std::move(options));
  driver.Start();
  ASSIGN_OR_RETURN(const std::unique_ptr<HealthServer> health,
                   HealthServer::Start(absl::GetFlag(FLAGS_health_address),
                                       [&driver] { return driver.ready(); }));
  spdlog::info("msg=\"started\" name={} health_port={}", HostName(),
               health->port());
  const sigset_t signals = EndSignals();
  int signal = 0;
  sigwait(&signals, &signal);
  if (signal == kBeginAnew) {
    return absl::AbortedError(
        absl::StrCat("another operator took a job ",
                     absl::FormatDuration(absl::GetFlag(FLAGS_stand_aside)),
                     " ago and may be gone: start this one again"));
  }
  spdlog::info("msg=\"ending\" signal={}", signal);
  return absl::OkStatus();
}

void BlockEndSignals() {
  const sigset_t signals = EndSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A peer that goes away is an error code, not the end of the process.
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace
}  // namespace dynatrain::control

int main(int argc, char** argv) {
  dynatrain::control::SetUpFlags();
  std::vector<std::string> storage;
  std::vector<char*> arguments =
      dynatrain::control::WithUnderscores(argc, argv, storage);
  absl::ParseCommandLine(argc, arguments.data());
  dynatrain::control::BlockEndSignals();
  const absl::Status status = dynatrain::control::Run();
  if (status.ok()) return EXIT_SUCCESS;
  spdlog::error("msg=\"can't go on\" error=\"{}\"",
                dynatrain::control::LogText(status));
  return EXIT_FAILURE;
}
