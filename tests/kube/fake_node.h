// A kubelet and scheduler without containers: each pod of a job becomes a
// FakeAgent on a loopback address of its own.
//
// Pods run at once if there is room, say why if not, get a leave notice when
// they are deleted and go when their agent has ended or the grace is over.
// A control file, read again each round, makes trouble:
//   {"max_pods": 3, "hang": [1], "refuse": [1], "crash": [2], "finish": true,
//    "grace_s": 5}
#ifndef TESTS_KUBE_FAKE_NODE_H_
#define TESTS_KUBE_FAKE_NODE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "operator/kube/client.h"
#include "operator/kube/informer.h"
#include "tests/kube/fake_agent.h"

namespace dynatrain::control {

struct FakeNodeOptions {
  std::string ns;
  int agent_port = 7070;
  std::string control_file;
  // Loopback addresses 127.<network>.x.y are this node's.
  int network = 20;
};

class FakeNode {
 public:
  FakeNode(KubeClient* client, FakeNodeOptions options, FakeAgent::Log log);
  void Start();

 private:
  struct Pod {
    std::unique_ptr<FakeAgent> agent;
    bool leaving = false;
    bool ended = false;
  };
  struct Control {
    size_t max_pods = 1000;
    std::set<uint32_t> hang;
    std::set<uint32_t> refuse;
    std::set<uint32_t> crash;
    bool finish = false;
    absl::Duration grace = absl::Seconds(30);
  };

  void Loop(std::stop_token stop);
  Control ReadControl() const;
  void Look(const Json& object, const Control& control);
  void Run(const Json& object, const Control& control);
  void Bind(const Json& object);
  void Leave(const Json& object, const Control& control);
  void Remove(const Json& object);
  void SetStatus(const Json& object, const Json& status);
  std::string NextIp();
  size_t Running() const;

  KubeClient* const client_;
  const FakeNodeOptions options_;
  const FakeAgent::Log log_;
  FakeCheckpoints checkpoints_;
  int addresses_ = 0;
  std::map<std::string /*uid*/, Pod> pods_;
  Informer informer_;
  std::jthread thread_;
};

}  // namespace dynatrain::control

#endif  // TESTS_KUBE_FAKE_NODE_H_
