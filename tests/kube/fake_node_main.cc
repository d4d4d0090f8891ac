// Runs a FakeNode until SIGTERM; writes what its agents were told to stdout.
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <memory>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/synchronization/mutex.h"
#include "operator/kube/http_client.h"
#include "operator/kube/kubeconfig.h"
#include "tests/kube/fake_node.h"

ABSL_FLAG(std::string, kubeconfig, "", "of an administrator");
ABSL_FLAG(int, agent_port, 7070, "port that the fake agents serve");
ABSL_FLAG(int, network, 20, "they live at 127.<network>.x.y");
ABSL_FLAG(std::string, ns, "", "only pods of this namespace");
ABSL_FLAG(std::string, control, "", "control file: see fake_node.h");

namespace dynatrain::control {
namespace {

int Run() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  absl::StatusOr<CredentialSources> sources =
      LoadKubeconfig(absl::GetFlag(FLAGS_kubeconfig));
  if (!sources.ok()) {
    std::fprintf(stderr, "%s\n", sources.status().ToString().c_str());
    return 1;
  }
  HttpKubeClient client(std::make_shared<Credentials>(*std::move(sources)));
  absl::Mutex mutex;
  FakeNode node(&client,
                {.ns = absl::GetFlag(FLAGS_ns),
                 .agent_port = absl::GetFlag(FLAGS_agent_port),
                 .control_file = absl::GetFlag(FLAGS_control),
                 .network = absl::GetFlag(FLAGS_network)},
                [&](const std::string& line) {
                  absl::MutexLock lock(&mutex);
                  std::puts(line.c_str());
                  std::fflush(stdout);
                });
  node.Start();
  int signal = 0;
  sigwait(&signals, &signal);
  return 0;
}

}  // namespace
}  // namespace dynatrain::control

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return dynatrain::control::Run();
}
