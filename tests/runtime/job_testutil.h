// A job of real rank processes under a FakeAgent, and its transitions.
#ifndef TESTS_RUNTIME_JOB_TESTUTIL_H_
#define TESTS_RUNTIME_JOB_TESTUTIL_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/rank/frame.h"
#include "nlohmann/json.hpp"
#include "tests/runtime/fake_agent.h"

namespace dynatrain::runtime {

// Where a rank lives: the process (its local_rank under the one FakeAgent) and
// the serial of the pod that it is told to be in.
struct Place {
  int process = 0;
  uint32_t serial = 0;
};

struct TestWorld {
  uint64_t generation = 0;
  std::string layout;
  std::vector<Place> places;  // by rank, ranks of a serial together
};

class TestJob {
 public:
  // Starts `num_processes` and waits for their hellos. Process i gets the key
  // keys[i] (hex) if there is one.
  explicit TestJob(int num_processes, std::map<int, std::string> keys = {});
  // Kills them.
  ~TestJob();

  FakeAgent& agent() { return *agent_; }
  pid_t pid(int process) const { return pids_[process]; }
  uint64_t process_id(int process) const { return process_ids_[process]; }
  const std::string& data_address(int process) const {
    return data_addresses_[process];
  }
  // From now on others are told to dial `address` to reach it.
  void Reroute(int process, std::string address) {
    data_addresses_[process] = std::move(address);
  }
  void Kill(int process);
  // Its exit code, 128 + signal.
  int WaitForExit(int process);

  // One transition, message by message. `manifest`: JSON text.
  struct Order {
    TestWorld source;
    TestWorld target;
    std::string manifest;
    int transfer_deadline_ms = 60'000;
  };
  // The processes of both worlds, each once; and those of the source.
  static std::set<int> Everyone(const Order& order);
  static std::set<int> Sources(const Order& order);

  nlohmann::json TransitionJson(const Order& order) const;
  void Prepare(const Order& order) { Prepare(order, Everyone(order)); }
  // Tells these alone.
  void Prepare(const Order& order, const std::set<int>& processes);
  // `prepared` of all; checks that digests and hashes agree.
  absl::Status AwaitPrepared(const Order& order);
  // Arms all of the source at a step that they reach; they are stopped after.
  absl::Status Arm(const Order& order);
  void Tell(const std::set<int>& processes, const char* kind,
            uint64_t generation);
  absl::StatusOr<std::map<int, api::Frame>> Await(
      const std::set<int>& processes, const char* kind, uint64_t generation);
  // All of it, to the `resumed` or `left` of everyone with an empty "check".
  // Returns those frames.
  absl::StatusOr<std::map<int, api::Frame>> Run(const Order& order);
  // Waits until the process, which had stopped for `generation`, trains in the
  // old world again, and returns what it says about it: {"failure","check"}.
  absl::StatusOr<nlohmann::json> AwaitKept(int process, uint64_t generation);

 private:
  void Start(int process, const std::string& key);

  std::unique_ptr<FakeAgent> agent_;
  std::vector<pid_t> pids_;
  std::vector<uint64_t> process_ids_;
  std::vector<std::string> data_addresses_;
};

// Paths of the data files of the test.
std::string RunfilePath(const std::string& path);

}  // namespace dynatrain::runtime

#endif  // TESTS_RUNTIME_JOB_TESTUTIL_H_
