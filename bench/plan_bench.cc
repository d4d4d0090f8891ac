// How long a process takes to plan its own part, and how that grows with the
// model and with the world.
//
//   bazel run -c opt //bench:plan_bench
//
// "routes" is per process, "per_route" the time of one.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "transition/plan/byte_matrix.h"
#include "transition/plan/process_plan.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/manifest.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/layout/named_layout.h"
#include "vps/model/presets.h"

namespace dynatrain::transition {
namespace {

using vps::Dtype;
using vps::Sharding;

const std::pair<const char*, Dtype> kStates[] = {
    {"param", Dtype::kBfloat16},
    {"master", Dtype::kFloat32},
    {"exp_avg", Dtype::kFloat32},
    {"exp_avg_sq", Dtype::kFloat32}};

void AddTensor(std::vector<vps::ManifestTensor>& tensors, std::string name,
               std::vector<int64_t> shape, const Sharding& sharding) {
  for (const auto& [state, dtype] : kStates) {
    tensors.push_back(
        {*vps::TensorSpec::Create(name, state, dtype, shape), sharding});
  }
}

// 480 tensors of 80 layers of a 70B model, FSDP2 over TP.
vps::Manifest Dense() {
  std::vector<vps::ManifestTensor> tensors;
  const Sharding column = {{"tp", 0}, {"dp", 0}};
  const Sharding row = {{"tp", 1}, {"dp", 0}};
  const Sharding norm = {{"dp", 0}};
  for (int layer = 0; layer < 80; ++layer) {
    const std::string prefix = absl::StrCat("layers.", layer, ".");
    AddTensor(tensors, prefix + "qkv", {10240, 8192}, column);
    AddTensor(tensors, prefix + "proj", {8192, 8192}, row);
    AddTensor(tensors, prefix + "fc1", {57344, 8192}, column);
    AddTensor(tensors, prefix + "fc2", {8192, 28672}, row);
    AddTensor(tensors, prefix + "norm1", {8192}, norm);
    AddTensor(tensors, prefix + "norm2", {8192}, norm);
  }
  return *vps::Manifest::Create(std::move(tensors));
}

// 33,024 tensors: 128 experts in 128 layers, cut by ep nowhere but by dp and
// tp.
vps::Manifest Moe() {
  std::vector<vps::ManifestTensor> tensors;
  for (int layer = 0; layer < 128; ++layer) {
    for (int expert = 0; expert < 129; ++expert) {
      const std::string prefix =
          absl::StrCat("layers.", layer, ".experts.", expert, ".");
      AddTensor(tensors, prefix + "fc1", {3072, 4096}, {{"tp", 0}, {"dp", 0}});
      AddTensor(tensors, prefix + "fc2", {4096, 1536}, {{"tp", 1}, {"dp", 0}});
    }
  }
  return *vps::Manifest::Create(std::move(tensors));
}

// Everything on every rank.
vps::Manifest Replicated() {
  std::vector<vps::ManifestTensor> tensors;
  for (int i = 0; i < 480; ++i) {
    AddTensor(tensors, absl::StrCat("w", i), {1024, 1024}, {});
  }
  return *vps::Manifest::Create(std::move(tensors));
}

World WorldOf(vps::Layout layout) {
  std::vector<Process> processes;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    processes.push_back(
        {static_cast<uint64_t>(rank) + 1, static_cast<uint32_t>(rank / 8)});
  }
  return *World::Create(std::move(layout), std::move(processes));
}

World MakeWorld(const vps::Manifest& manifest, const std::string& sizes) {
  return WorldOf(*vps::MakeLayout(
      vps::Mesh::ForTorch(*vps::AxisSizes::Parse(sizes)), manifest));
}

PlanInput MakeInput(const vps::Manifest& manifest, const std::string& source,
                    const std::string& target) {
  return *PlanInput::Create(MakeWorld(manifest, source),
                            MakeWorld(manifest, target));
}

void PlanOf(benchmark::State& state, const PlanInput& input) {
  const uint64_t process_id = input.source().process(37).id;
  int64_t routes = 0;
  for (auto _ : state) {
    const ProcessPlan plan = *PlanForProcess(input, process_id);
    routes = static_cast<int64_t>(plan.local.size());
    for (const PeerExchange& peer : plan.peers) {
      routes += peer.send.size() + peer.receive.size();
    }
    benchmark::DoNotOptimize(routes);
  }
  state.counters["routes"] = static_cast<double>(routes);
  state.counters["per_route"] =
      benchmark::Counter(static_cast<double>(routes),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

void PlanOne(benchmark::State& state, const vps::Manifest& manifest,
             const std::string& source, const std::string& target) {
  PlanOf(state, MakeInput(manifest, source, target));
}

BENCHMARK_CAPTURE(PlanOne, dense_64_to_48, Dense(), "dp8,tp8", "dp6,tp8")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanOne, dense_1024_to_768, Dense(), "dp128,tp8", "dp96,tp8")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanOne, dense_tp8_to_tp4, Dense(), "dp128,tp8", "dp192,tp4")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanOne, dense_16384_to_12288, Dense(), "dp2048,tp8",
                  "dp1536,tp8")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanOne, hsdp_1024_to_768, Dense(), "dp16,tp8,rep8",
                  "dp16,tp8,rep6")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanOne, moe_1024_to_768, Moe(), "dp128,tp8", "dp96,tp8")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlanOne, replicated_1024_to_1032, Replicated(), "dp1024",
                  "dp1032")
    ->Unit(benchmark::kMicrosecond);

vps::megatron::MegatronOptions Qwen(int64_t world, int tp, int pp, int ep) {
  vps::megatron::MegatronOptions options = {
      .ranks = {.world = world, .tp = tp, .pp = pp, .ep = ep, .etp = 1},
      .grouped_experts = true};
  if (pp == 8) {
    options.first_stage_layers = 11;
    options.last_stage_layers = 11;
  }
  return options;
}

World MegatronWorld(const vps::megatron::MegatronOptions& options) {
  const auto layout = *vps::megatron::MakeMegatronLayout(
      *vps::Preset("qwen3-235b-a22b"),
      *vps::megatron::MegatronConfig::Create(options),
      *vps::StateList::Preset("bf16-mixed"));
  return WorldOf(layout.layout());
}

void PlanQwen(benchmark::State& state,
              const vps::megatron::MegatronOptions& from,
              const vps::megatron::MegatronOptions& to) {
  const PlanInput input =
      *PlanInput::Create(MegatronWorld(from), MegatronWorld(to));
  PlanOf(state, input);
}
BENCHMARK_CAPTURE(PlanQwen, tp4pp8ep8_to_tp2pp8ep16_128, Qwen(128, 4, 8, 8),
                  Qwen(128, 2, 8, 16))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlanQwen, tp4_128_to_96, Qwen(128, 4, 1, 1),
                  Qwen(96, 4, 1, 1))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlanQwen, tp4_1024_to_768, Qwen(1024, 4, 1, 1),
                  Qwen(768, 4, 1, 1))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlanQwen, tp4pp8ep8_1024_to_768, Qwen(1024, 4, 8, 8),
                  Qwen(768, 4, 8, 8))
    ->Unit(benchmark::kMillisecond);

void PlanWhole(benchmark::State& state) {
  const PlanInput input = MakeInput(Dense(), "dp16,tp8", "dp12,tp8");
  for (auto _ : state) {
    benchmark::DoNotOptimize(ComputeByteMatrix(input).moved_bytes);
  }
}
BENCHMARK(PlanWhole)->Unit(benchmark::kMillisecond);

void MakeInputs(benchmark::State& state) {
  const vps::Manifest manifest = Moe();
  const World source = MakeWorld(manifest, "dp128,tp8");
  const World target = MakeWorld(manifest, "dp96,tp8");
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        PlanInput::Create(source, target)->AgreementDigest());
  }
}
BENCHMARK(MakeInputs)->Unit(benchmark::kMillisecond);

void MakeDigests(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Dense().digest());
  }
}
BENCHMARK(MakeDigests)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dynatrain::transition
