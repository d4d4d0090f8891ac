// What a rank's regions of real Megatron jobs cost: bf16 weights, float32
// masters and Adam's moments with the distributed optimizer.
//
//   bazel run -c opt //bench:layout_bench
//
// per_region and per_tensor are seconds of one rank's walk over all that it
// holds, divided by the regions found and by the tensors (times states) that
// its stage and expert rank have; at a large dp most shards of a small stage
// are elsewhere, so that there are more tensors than regions. allocations are
// those of a whole walk. Build is the making of the layout itself, once per
// job and process.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "benchmark/benchmark.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/presets.h"

namespace {
std::atomic<int64_t> allocations = 0;
}  // namespace

// Counts what the walk allocates. Not inlined: GCC 12 would take the free in
// one for the wrong end of another's new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace dynatrain::vps::megatron {
namespace {

struct Case {
  const char* model;
  MegatronOptions options;
  int rank;  // whose regions are walked
};

// All 94 layers and 128 experts on each rank.
Case QwenWhole(int64_t world) {
  return {"qwen3-235b-a22b",
          {.ranks = {.world = world, .tp = 4}, .grouped_experts = true},
          static_cast<int>(world) - 1};
}

// Twelve layers and sixteen experts.
Case QwenCut(int64_t world) {
  return {"qwen3-235b-a22b",
          {.ranks = {.world = world, .tp = 4, .pp = 8, .ep = 8, .etp = 1},
           .first_stage_layers = 11,
           .last_stage_layers = 11,
           .grouped_experts = true},
          static_cast<int>(world) / 2};
}

Case Llama(int64_t world) {
  return {"llama2-70b",
          {.ranks = {.world = world, .tp = 8, .pp = 4}},
          static_cast<int>(world) / 2};
}

Case Deepseek(int64_t world) {
  return {"deepseek-v3",
          {.ranks = {.world = world, .tp = 2, .pp = 16, .ep = 64, .etp = 1},
           .pipeline_layout = "Et*3|(tt|)*29,m|L",
           .grouped_experts = true},
          static_cast<int>(world) / 2};
}

MegatronLayout Make(const Case& job) {
  return *MakeMegatronLayout(*Preset(job.model),
                             *MegatronConfig::Create(job.options),
                             *StateList::Preset("bf16-mixed"));
}

int64_t TensorsAt(const Layout& layout, int rank) {
  int64_t tensors = 0;
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
      tensors += layout.IsAt(rank, tensor, copy);
    }
  }
  return tensors;
}

void Regions(benchmark::State& state, Case (*make)(int64_t)) {
  const Case job = make(state.range(0));
  const MegatronLayout megatron = Make(job);
  const Layout& layout = megatron.layout();
  int64_t regions = 0;
  const int64_t before = allocations;
  for (auto _ : state) {
    regions = 0;
    layout.ForEachRegion(job.rank, [&](const OwnedRegion& region) {
      benchmark::DoNotOptimize(region.offset);
      ++regions;
    });
  }
  const int64_t allocated = allocations - before;
  using benchmark::Counter;
  const auto flags = static_cast<Counter::Flags>(
      Counter::kIsIterationInvariantRate | Counter::kInvert);
  state.counters["regions"] = regions;
  state.counters["per_region"] = Counter(regions, flags);
  state.counters["per_tensor"] = Counter(TensorsAt(layout, job.rank), flags);
  state.counters["allocations"] = Counter(allocated, Counter::kAvgIterations);
}

void Build(benchmark::State& state, Case (*make)(int64_t)) {
  const Case job = make(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Make(job).layout());
}

BENCHMARK_CAPTURE(Regions, qwen_pp1_ep1, QwenWhole)->Arg(8)->Arg(4096);
BENCHMARK_CAPTURE(Regions, qwen_pp8_ep8, QwenCut)->Arg(128)->Arg(4096);
BENCHMARK_CAPTURE(Regions, llama2_70b_pp4, Llama)->Arg(128)->Arg(4096);
BENCHMARK_CAPTURE(Regions, deepseek_pp16_ep64, Deepseek)->Arg(2048)->Arg(16384);
BENCHMARK_CAPTURE(Build, qwen_pp8_ep8, QwenCut)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Build, deepseek_pp16_ep64, Deepseek)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dynatrain::vps::megatron
