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
// job and process. Prototype is the founders' study (shared/peers/plan2.cpp)
// over the same tensors: boxes of two dims, one cut, one ZeRO shard per tensor
// and no buffers, worked out for each tensor anew.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

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

// A tensor as plan2.cpp knows it: at most two dims, `dim` is cut by tp or -1.
struct PrototypeTensor {
  int64_t d0, d1;
  int dim;
  bool zero;  // split over dp besides
};

struct PrototypeBox {
  int64_t lo[2], hi[2];
};

// plan2.cpp's boxes(): what (tp rank, dp rank) holds of a tensor.
int PrototypeBoxes(const PrototypeTensor& t, int tp, int tp_rank, int dp,
                   int dp_rank, PrototypeBox* out) {
  const auto split = [](int64_t n, int p, int i, int64_t& a, int64_t& b) {
    a = n * i / p;
    b = n * (i + 1) / p;
  };
  PrototypeBox b{{0, 0}, {t.d0, t.d1}};
  if (t.dim >= 0) {
    split(t.dim ? t.d1 : t.d0, tp, tp_rank, b.lo[t.dim], b.hi[t.dim]);
  }
  if (!t.zero) {
    out[0] = b;
    return 1;
  }
  const int64_t w = b.hi[1] - b.lo[1], n = (b.hi[0] - b.lo[0]) * w;
  int64_t f, e;
  split(n, dp, dp_rank, f, e);
  if (f >= e) return 0;
  int64_t r0 = f / w, c0 = f % w, r1 = e / w, c1 = e % w;
  int k = 0;
  if (r0 == r1) {
    out[0] = {{b.lo[0] + r0, b.lo[1] + c0}, {b.lo[0] + r0 + 1, b.lo[1] + c1}};
    return 1;
  }
  if (c0 != 0) {
    out[k++] = {{b.lo[0] + r0, b.lo[1] + c0}, {b.lo[0] + r0 + 1, b.hi[1]}};
    ++r0;
  }
  if (r0 < r1) out[k++] = {{b.lo[0] + r0, b.lo[1]}, {b.lo[0] + r1, b.hi[1]}};
  if (c1 != 0) {
    out[k++] = {{b.lo[0] + r1, b.lo[1]}, {b.lo[0] + r1 + 1, b.lo[1] + c1}};
  }
  return k;
}

// The tensors at the rank's stage, as the prototype would have them.
std::vector<PrototypeTensor> PrototypeTensors(const Layout& layout, int rank) {
  std::vector<PrototypeTensor> tensors;
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    if (!layout.IsAt(rank, tensor, 0)) continue;
    const auto shape = layout.tensor(tensor).shape();
    const Placement& placement = layout.placement(tensor, 0);
    const auto& cuts = placement.cuts;
    tensors.push_back({shape[0], shape.size() > 1 ? shape[1] : 1,
                       cuts.empty() ? -1 : cuts[0].dim,
                       placement.flat.has_value()});
  }
  return tensors;
}

void Prototype(benchmark::State& state, Case (*make)(int64_t)) {
  const Case job = make(state.range(0));
  const MegatronLayout megatron = Make(job);
  const std::vector<PrototypeTensor> tensors =
      PrototypeTensors(megatron.layout(), job.rank);
  const int tp = static_cast<int>(job.options.ranks.tp);
  const int dp = static_cast<int>(state.range(0)) / tp /
                 static_cast<int>(job.options.ranks.pp);
  int64_t regions = 0;
  for (auto _ : state) {
    regions = 0;
    for (const PrototypeTensor& tensor : tensors) {
      PrototypeBox boxes[3];
      regions += PrototypeBoxes(tensor, tp, tp / 2, dp, dp / 2, boxes);
      benchmark::DoNotOptimize(boxes);
    }
  }
  using benchmark::Counter;
  const auto flags = static_cast<Counter::Flags>(
      Counter::kIsIterationInvariantRate | Counter::kInvert);
  state.counters["regions"] = regions;
  state.counters["per_region"] = Counter(regions, flags);
  state.counters["per_tensor"] = Counter(tensors.size(), flags);
}

void Build(benchmark::State& state, Case (*make)(int64_t)) {
  const Case job = make(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Make(job).layout());
}

BENCHMARK_CAPTURE(Regions, qwen_pp1_ep1, QwenWhole)->Arg(8)->Arg(4096);
BENCHMARK_CAPTURE(Regions, qwen_pp8_ep8, QwenCut)->Arg(128)->Arg(4096);
BENCHMARK_CAPTURE(Regions, llama2_70b_pp4, Llama)->Arg(128)->Arg(4096);
BENCHMARK_CAPTURE(Prototype, llama2_70b_pp4, Llama)->Arg(128)->Arg(4096);
BENCHMARK_CAPTURE(Regions, deepseek_pp16_ep64, Deepseek)->Arg(2048)->Arg(16384);
BENCHMARK_CAPTURE(Build, qwen_pp8_ep8, QwenCut)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Build, deepseek_pp16_ep64, Deepseek)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dynatrain::vps::megatron
