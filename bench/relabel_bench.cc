// How long it takes to choose which process takes which rank: a job of 512
// ranks that loses none, but whose processes come in another order, and one
// that also changes its layout.
//
//   bazel run -c opt //bench:relabel_bench
//
// Kept is the matrix of what would stay where, Relabel all together. "classes"
// are those of the tensors, "kept" the share of bytes that stay, "given" the
// share in the given order, in percent.
#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "transition/plan/kept_matrix.h"
#include "transition/plan/relabel.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/presets.h"

namespace dynatrain::transition {
namespace {

using vps::megatron::MegatronConfig;
using vps::megatron::MegatronOptions;

vps::Layout Qwen(const vps::megatron::Ranks::Sizes& sizes) {
  MegatronOptions options = {.ranks = sizes, .grouped_experts = true};
  options.first_stage_layers = options.last_stage_layers = 11;
  return vps::megatron::MakeMegatronLayout(
             *vps::Preset("qwen3-235b-a22b"), *MegatronConfig::Create(options),
             *vps::StateList::Preset("bf16-mixed"))
      ->layout();
}

// Nodes of eight; `shuffled`: in another order.
World MakeWorld(vps::Layout layout, bool shuffled) {
  std::vector<uint32_t> members(layout.world_size() / 8);
  for (size_t i = 0; i < members.size(); ++i) members[i] = i;
  std::mt19937_64 random(1);
  if (shuffled) std::shuffle(members.begin(), members.end(), random);
  std::vector<Process> processes;
  for (uint32_t member : members) {
    for (int i = 0; i < 8; ++i)
      processes.push_back({member * 8 + i + 1, member});
  }
  return *World::Create(std::move(layout), std::move(processes));
}

const PlanInput& Reordered() {
  static const PlanInput input = *PlanInput::Create(
      MakeWorld(Qwen({.world = 512, .tp = 4, .pp = 8, .ep = 8, .etp = 1}),
                false),
      MakeWorld(Qwen({.world = 512, .tp = 4, .pp = 8, .ep = 8, .etp = 1}),
                true));
  return input;
}

const PlanInput& Changed() {
  static const PlanInput input = *PlanInput::Create(
      MakeWorld(Qwen({.world = 512, .tp = 4, .pp = 8, .ep = 8, .etp = 1}),
                false),
      MakeWorld(Qwen({.world = 512, .tp = 8, .pp = 8, .ep = 16, .etp = 1}),
                false));
  return input;
}

void Kept(benchmark::State& state, const PlanInput& (*input)()) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ComputeKeptMatrix(input()).bytes.data());
  }
  state.counters["classes"] = input().num_classes();
}

void Relabel(benchmark::State& state, const PlanInput& (*input)(),
             RelabelUnit unit) {
  Relabeling found;
  for (auto _ : state) {
    found = *transition::Relabel(input(), {.unit = unit});
  }
  int64_t needed = 0;
  const vps::Layout& target = input().target().layout();
  for (int rank = 0; rank < target.world_size(); ++rank) {
    target.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      needed += region.global.num_elements() *
                target.tensor(region.tensor).item_bytes();
    });
  }
  state.counters["kept"] = 100.0 * found.kept_bytes / needed;
  state.counters["given"] = 100.0 * found.given_kept_bytes / needed;
}

BENCHMARK_CAPTURE(Kept, reordered, Reordered)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Kept, changed, Changed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Relabel, reordered, Reordered, RelabelUnit::kRank)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Relabel, changed, Changed, RelabelUnit::kRank)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Relabel, changed_by_member, Changed, RelabelUnit::kMember)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dynatrain::transition
