// FakeCluster: a cluster small enough to hold in the head, for tests of Decide.
//
// Pods get scheduled, start and train; agents follow the commands by the rules
// of transition/commit's Participant, the real one. One tick is one second and
// one training step. The operator is Decide: all it has between two ticks is
// what a snapshot says, so it may be restarted anywhere, also after the n-th
// action it does.
//
//   FakeCluster cluster(Spec(2));
//   ASSERT_TRUE(cluster.RunUntil([&] { return cluster.Settled(2); }));
//   cluster.Scale(3);
//
// Each tick checks what must always hold (CheckLaws).
#ifndef OPERATOR_RECONCILE_FAKE_CLUSTER_H_
#define OPERATOR_RECONCILE_FAKE_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/client/messages.h"
#include "api/job/job.h"
#include "operator/reconcile/action.h"
#include "operator/reconcile/snapshot.h"
#include "transition/commit/participant.h"

namespace dynatrain::control {

// A pod with its agent and ranks; the test may turn its knobs.
struct FakePod {
  explicit FakePod(int ranks) : participant(ranks) {}

  PodView view;
  transition::Participant participant;
  int age = 0;  // ticks
  uint64_t process_id = 0;
  bool agent_up = false;
  bool dismissed = false;
  int64_t trains = 0;  // generation; 0: in no world
  bool stopped = false;
  bool left = false;
  bool finished = false;
  std::map<std::string, int> since;  // ticks in a phase, by its name

  // Knobs.
  bool silent = false;          // the agent does not answer
  bool stuck = false;           // its ranks never reach a boundary
  std::string prepare_failure;  // what its ranks fail with
  uint64_t memory_limit_bytes = 0;
  uint64_t memory_used_bytes = 0;
  uint64_t new_bytes = 1 << 20;
  bool cold = false;
};

class FakeCluster {
 public:
  explicit FakeCluster(api::JobSpec spec);

  // One second: the operator looks and acts, then the cluster moves on.
  void Tick();
  // False if `done` does not come within `ticks`.
  bool RunUntil(const std::function<bool()>& done, int ticks = 400);
  void Run(int ticks);

  // What users, nodes and accidents do.
  void Edit(const std::function<void(api::JobSpec&)>& edit);
  void Scale(int replicas);
  void Evict(uint32_t serial, absl::Duration grace = absl::Seconds(120));
  void Kill(uint32_t serial, int exit_code);
  void RestartOperator() { term_ = 0; }
  // The operator dies right after its n-th action from the start, and starts
  // again.
  void CrashAfter(int actions) { crash_after_ = actions; }
  void DeleteJob() { gone_ = true; }

  // True if `pods` train as the job's world, all is quiet and no pod is left
  // over.
  bool Settled(int pods) const;

  const api::JobStatus& status() const { return job_.status; }
  const api::Condition& condition(const std::string& type) const;
  FakePod& pod(uint32_t serial) { return pods_.at(serial); }
  const std::map<uint32_t, FakePod>& pods() const { return pods_; }
  bool has(uint32_t serial) const { return pods_.count(serial) != 0; }
  Snapshot Look() const;

  int capacity = 1000;    // pods that can be scheduled
  int nodes = 1;          // that they are placed on in turn
  int64_t last_step = 0;  // of the data; 0: never ends
  std::string create_failure;
  bool namespace_ends = false;  // create_failure is for that
  bool operator_away = false;   // nobody looks and acts
  std::string manifest;         // JSON text; "": not known yet
  int actions_done() const { return actions_done_; }
  int status_writes() const { return status_writes_; }
  const std::vector<RecordEvent>& events() const { return events_; }
  // What members were told last to prepare.
  const agent::Transition& prepared() const { return prepared_; }
  absl::Time now() const { return now_; }
  // Everything that happened, for a failed test.
  const std::string& journal() const { return journal_; }

 private:
  void Act(const std::vector<Action>& actions);
  void Do(const Action& action);
  void Create(const CreatePod& create);
  void Write(const WriteStatus& write);
  void Command(uint32_t serial, const std::string& what,
               const std::function<absl::Status(FakePod&)>& command);
  transition::Participant::Time SteadyNow() const;

  void MoveOn(FakePod& pod);
  void Schedule(FakePod& pod);
  void Train();
  void Follow(FakePod& pod);
  void FollowPhase(FakePod& pod);
  void End(FakePod& pod, int exit_code);
  bool AllTransferring(int64_t generation) const;
  agent::Observation Observe(const FakePod& pod) const;
  agent::TransitionObservation ObserveTransition(const FakePod& pod) const;
  void CheckLaws() const;
  void CheckActions(const std::vector<Action>& actions) const;

  api::Job job_;
  std::map<uint32_t, FakePod> pods_;
  std::set<uint32_t> used_serials_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  uint64_t term_ = 0;
  bool gone_ = false;
  int64_t step_ = 0;
  int crash_after_ = -1;
  int actions_done_ = 0;
  int status_writes_ = 0;
  std::optional<CreateError> create_error_;
  std::vector<RecordEvent> events_;
  agent::Transition prepared_;
  std::string journal_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_FAKE_CLUSTER_H_
