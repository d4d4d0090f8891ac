// How long it takes to cut a whole world's plan into stages, in tight mode with
// a budget of 256 MiB per rank.
//
//   bazel run -c opt //bench:stage_bench
//
// "moves" are those of the plan, "parts" those of all stages together,
// "over_MiB" by how much the fullest rank's peak is above the larger of its
// worlds, "safe_GiB" what it would need in safe mode.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "transition/plan/plan_input.h"
#include "transition/schedule/plan_moves.h"
#include "transition/stage/plan_memory.h"
#include "transition/stage/stage_plan.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/presets.h"

namespace dynatrain::transition {
namespace {

using vps::megatron::MegatronConfig;
using vps::megatron::MegatronOptions;

World Job(const char* model, const MegatronOptions& options) {
  vps::Layout layout =
      vps::megatron::MakeMegatronLayout(*vps::Preset(model),
                                        *MegatronConfig::Create(options),
                                        *vps::StateList::Preset("bf16-mixed"))
          ->layout();
  std::vector<Process> processes;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    processes.push_back(
        {static_cast<uint64_t>(rank + 1), static_cast<uint32_t>(rank / 8)});
  }
  return *World::Create(std::move(layout), std::move(processes));
}

struct Change {
  const char* model;
  MegatronOptions before;
  MegatronOptions after;
};

Change Llama() {
  return {"llama2-70b",
          {.ranks = {.world = 128, .tp = 8, .pp = 4}},
          {.ranks = {.world = 96, .tp = 4, .pp = 8}}};
}

Change Qwen() {
  return {"qwen3-235b-a22b",
          {.ranks = {.world = 128, .tp = 4, .pp = 8, .ep = 8, .etp = 1},
           .first_stage_layers = 11,
           .last_stage_layers = 11},
          {.ranks = {.world = 128, .tp = 2, .pp = 4, .ep = 16, .etp = 1},
           .first_stage_layers = 23,
           .last_stage_layers = 23}};
}

void Stages(benchmark::State& state, const Change& change,
            Granularity granularity) {
  const PlanInput input = *PlanInput::Create(Job(change.model, change.before),
                                             Job(change.model, change.after));
  const Moves moves = *MovesOf(input);
  const WorldMemory memory = MemoryOf(input, granularity);
  StageOptions options = {.mode = StageMode::kTight};
  if (granularity != Granularity::kExtents) {
    options.budget_bytes = int64_t{1} << 50;
    options.budget_bytes =
        PlanStages(moves, memory, options)->smallest_budget_bytes;
  }
  int64_t parts = 0;
  for (auto _ : state) {
    const StagePlan plan = *PlanStages(moves, memory, options);
    parts = 0;
    for (const Stage& stage : plan.stages) parts += stage.moves.all().size();
    int64_t over = 0;
    int64_t safe = 0;
    for (const RankPeak& it : plan.ranks) {
      over = std::max(
          over, it.peak_bytes - std::max(it.source_bytes, it.target_bytes));
      safe = std::max(safe, it.safe_bytes);
    }
    state.counters["stages"] = static_cast<double>(plan.stages.size());
    state.counters["over_MiB"] = static_cast<double>(over >> 20);
    state.counters["peak_GiB"] = static_cast<double>(plan.PeakBytes() >> 30);
    state.counters["safe_GiB"] = static_cast<double>(safe >> 30);
  }
  state.counters["moves"] = static_cast<double>(moves.all().size());
  state.counters["parts"] = static_cast<double>(parts);
}

BENCHMARK_CAPTURE(Stages, llama_by_extents, Llama(), Granularity::kExtents)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Stages, llama_whole_tensors, Llama(), Granularity::kTensors)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(Stages, llama_whole_buffers, Llama(), Granularity::kBuffers)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(Stages, qwen_by_extents, Qwen(), Granularity::kExtents)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace dynatrain::transition
