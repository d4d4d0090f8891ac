// Checkpoint-restart: the job saves a sharded checkpoint to a file system that
// all nodes share, ends, starts with the new layout and loads what each rank
// needs of it.
//
// Source: megatron-core 0.16.1 (PyPI; github.com/NVIDIA/Megatron-LM tag
// core_v0.16.1), core/dist_checkpointing:
//   strategies/fully_parallel.py, exchange_utils.py
//             distribute_shards_to_ranks: of the ranks that hold a shard, the
//             one that saves least so far saves it, those with fewest holders
//             first, the larger first
//   load      each rank reads its own part of each tensor
//
// Phases: save and load. That processes end and start is charged to all
// strategies alike (Simulation).
#ifndef TOOLS_SIMULATE_CHECKPOINT_STRATEGY_H_
#define TOOLS_SIMULATE_CHECKPOINT_STRATEGY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::simulate {

// What a job writes when it saves. REQUIRES: its processes are on the cluster.
Phase SaveCheckpoint(const transition::World& world,
                     const transition::ClusterModel& cluster);
// What a job reads when it starts from one.
Phase LoadCheckpoint(const transition::World& world,
                     const transition::ClusterModel& cluster);

class CheckpointStrategy : public Strategy {
 public:
  absl::string_view name() const override { return "checkpoint"; }
  absl::string_view source() const override {
    return "megatron-core 0.16.1, core/dist_checkpointing/exchange_utils.py, "
           "strategies/fully_parallel.py";
  }
  bool through_storage() const override { return true; }
  absl::StatusOr<Movement> Plan(const SwitchCase& change) const override;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_CHECKPOINT_STRATEGY_H_
