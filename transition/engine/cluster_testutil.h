// A job in one test process: each rank process is a thread with its own
// transport (real sockets, real shared memory) and memory of its own.
#ifndef TRANSITION_ENGINE_CLUSTER_TESTUTIL_H_
#define TRANSITION_ENGINE_CLUSTER_TESTUTIL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/engine/tensor_state_testutil.h"
#include "transition/engine/transfer.h"
#include "transition/plan/plan_input.h"
#include "transition/transport/host_transport.h"

namespace dynatrain::transition {

class TestCluster {
 public:
  struct Member {
    std::unique_ptr<HostTransport> transport;
    TensorState state;  // of the present world
    Blobs blobs;        // likewise
  };

  // What a test wants of one process in one transition.
  struct Part {
    TransferHooks hooks;
    Cancellation* cancel = nullptr;  // of the transfer
    // In place of RunTransfer, for a process that misbehaves.
    std::function<absl::StatusOr<TransferReport>(Links& links)> run;
  };
  struct Outcome {
    absl::StatusOr<TransferReport> report = absl::UnknownError("not run");
    TensorState target;
    // Open until all have ended, as in a real process until it is told to drop
    // the transition: so who fails doesn't look like one who went.
    Links links;
  };

  static constexpr char kKey[] = "the key of the job";

  explicit TestCluster(std::mt19937_64 random) : random_(random) {}

  // Makes the processes of `world` that don't exist yet, and fills all with the
  // job's state.
  void Start(const World& world);
  Member& member(uint64_t process_id) { return *members_.at(process_id); }

  // All processes of both worlds take part, each in its thread. Links are made
  // first; `limit` is for the transfer alone.
  std::map<uint64_t, Outcome> Run(
      const PlanInput& input, std::map<uint64_t, Part> parts = {},
      std::chrono::milliseconds limit = std::chrono::milliseconds(60'000));
  // What all have to do after a success: the target becomes their state.
  void Commit(const PlanInput& input, std::map<uint64_t, Outcome> outcomes);

 private:
  Member& GetOrMake(uint64_t process_id);
  absl::StatusOr<Links> ConnectOne(const PlanInput& input,
                                   const ProcessPlan& plan);
  absl::StatusOr<TransferReport> MoveOne(const PlanInput& input,
                                         const ProcessPlan& plan,
                                         const Part& part, Outcome& outcome,
                                         Deadline deadline);

  std::mt19937_64 random_;
  uint64_t generation_ = 1;
  std::map<uint64_t, std::unique_ptr<Member>> members_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_CLUSTER_TESTUTIL_H_
