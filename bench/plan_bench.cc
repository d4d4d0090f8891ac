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
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "transition/plan/balance_senders.h"
#include "transition/plan/byte_matrix.h"
#include "transition/plan/process_plan.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/layout_builder.h"
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
  return WorldOf(
      *vps::MakeLayout(vps::Mesh::Of(*vps::AxisSizes::Parse(sizes)), manifest));
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

vps::megatron::MegatronOptions Qwen(int64_t world, int64_t tp, int64_t pp,
                                    int64_t ep) {
  vps::megatron::MegatronOptions options = {
      .ranks = {.world = world, .tp = tp, .pp = pp, .ep = ep, .etp = 1},
      .grouped_experts = true};
  if (pp == 8) {
    options.first_stage_layers = 11;
    options.last_stage_layers = 11;
  }
  return options;
}

// All 24,725 tensors of Qwen3-235B-A22B and their states, as Megatron has them.
World MegatronWorld(const vps::megatron::MegatronOptions& options) {
  const auto layout = *vps::megatron::MakeMegatronLayout(
      *vps::Preset("qwen3-235b-a22b"),
      *vps::megatron::MegatronConfig::Create(options),
      *vps::StateList::Preset("bf16-mixed"));
  return WorldOf(layout.layout());
}

void PlanQwen(benchmark::State& state,
              const vps::megatron::MegatronOptions& source,
              const vps::megatron::MegatronOptions& target) {
  PlanOf(state,
         *PlanInput::Create(MegatronWorld(source), MegatronWorld(target)));
}
BENCHMARK_CAPTURE(PlanQwen, tp4_pp8_ep8_to_tp2_pp8_ep16_of_128,
                  Qwen(128, 4, 8, 8), Qwen(128, 2, 8, 16))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanQwen, tp4_pp8_ep8_1024_to_768, Qwen(1024, 4, 8, 8),
                  Qwen(768, 4, 8, 8))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanQwen, all_on_each_rank_1024_to_768, Qwen(1024, 4, 1, 1),
                  Qwen(768, 4, 1, 1))
    ->Unit(benchmark::kMicrosecond);

// One rank, whose own state stays as large while the world grows: dp doubles
// what it has of replicas alone.
void PlanQwenInWorldOf(benchmark::State& state) {
  const int64_t world = state.range(0);
  vps::megatron::MegatronOptions source = Qwen(world, 4, 8, 1);
  vps::megatron::MegatronOptions target = Qwen(world, 2, 8, 1);
  // 2 x 4 ranks share the optimizer's state in any world.
  source.ranks.optimizer_instances = world / 64;
  target.ranks.optimizer_instances = world / 64;
  PlanOf(state,
         *PlanInput::Create(MegatronWorld(source), MegatronWorld(target)));
}
BENCHMARK(PlanQwenInWorldOf)
    ->Arg(64)
    ->Arg(1024)
    ->Arg(16384)
    ->Unit(benchmark::kMicrosecond);

// Whose members are one rank each: what the rail has of the replicas is asked.
void PlanOverRailsOf(benchmark::State& state) {
  const int world = static_cast<int>(state.range(0));
  const auto on_rails = [](const World& given) {
    std::vector<Process> processes;
    for (const Process& process : given.processes()) {
      const auto rank = static_cast<uint32_t>(process.id - 1);
      processes.push_back(
          {.id = process.id, .member = rank, .rail = rank % 8 + 1});
    }
    return *World::Create(given.layout(), std::move(processes));
  };
  vps::megatron::MegatronOptions source = Qwen(world, 4, 8, 1);
  vps::megatron::MegatronOptions target = Qwen(world, 2, 8, 1);
  source.ranks.optimizer_instances = world / 64;
  target.ranks.optimizer_instances = world / 64;
  PlanOf(state, *PlanInput::Create(on_rails(MegatronWorld(source)),
                                   on_rails(MegatronWorld(target))));
}
BENCHMARK(PlanOverRailsOf)
    ->Arg(64)
    ->Arg(1024)
    ->Arg(16384)
    ->Unit(benchmark::kMicrosecond);

// What every rank of a world plans, one after the other, with the input.
void PlanAll(benchmark::State& state, const World& source,
             const World& target) {
  for (auto _ : state) {
    const PlanInput input = *PlanInput::Create(source, target);
    int64_t bytes = 0;
    for (const Process& process : source.processes()) {
      bytes += PlanForProcess(input, process.id)->bytes.sent_bytes;
    }
    benchmark::DoNotOptimize(bytes);
  }
}

void PlanAllOfQwen(benchmark::State& state) {
  PlanAll(state, MegatronWorld(Qwen(128, 4, 8, 8)),
          MegatronWorld(Qwen(128, 2, 8, 16)));
}
BENCHMARK(PlanAllOfQwen)->Unit(benchmark::kMillisecond);

void BalanceQwen(benchmark::State& state) {
  const PlanInput input = *PlanInput::Create(
      MegatronWorld(Qwen(128, 4, 8, 8)), MegatronWorld(Qwen(128, 2, 8, 16)));
  SenderBalance balance;
  for (auto _ : state) {
    benchmark::DoNotOptimize(BalanceSenders(input, {}, &balance).shares());
  }
  state.counters["even"] =
      static_cast<double>(balance.even_bytes) / balance.bound_bytes;
  state.counters["chosen"] =
      static_cast<double>(balance.chosen_bytes) / balance.bound_bytes;
}
BENCHMARK(BalanceQwen)->Unit(benchmark::kMillisecond);

struct Shaped {
  std::string name;
  std::vector<int64_t> shape;
  int tp_dim = -1;  // that tensor parallelism cuts; -1: none
};

// Stages over pp, cut by tp, replicated over dp; `zero`: with float32 states
// that are flattened, tensor by tensor, over dp.
World Staged(const std::vector<std::vector<Shaped>>& layers, int world, int tp,
             int pp, bool zero) {
  const int dp = world / (tp * pp);
  vps::LayoutBuilder builder;
  builder.AddMesh(*vps::Mesh::Create({{"pp", pp}, {"dp", dp}, {"tp", tp}}));
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    for (const Shaped& shaped : layers[layer]) {
      for (const auto& [state, dtype] : kStates) {
        const bool flat = dtype == Dtype::kFloat32;
        if (flat && !zero) continue;
        vps::Placement placement = {.located_by = {0}};
        int64_t elements = 1;
        for (const int64_t extent : shaped.shape) elements *= extent;
        if (shaped.tp_dim >= 0) {
          placement.cuts.push_back({.group = {{2}}, .dim = shaped.tp_dim});
          elements /= tp;
        }
        vps::Held held = {.at = {static_cast<int>(layer * pp / layers.size())}};
        if (flat) {
          placement.flat = vps::Flat{{{1}}};
          held.flat = {.position = 0, .shard = (elements + dp - 1) / dp};
        }
        held.placement = builder.AddPlacement(std::move(placement));
        builder.AddCopy(builder.AddTensor(*vps::TensorSpec::Create(
                            absl::StrCat("layers.", layer, ".", shaped.name),
                            state, dtype, shaped.shape)),
                        std::move(held));
      }
    }
  }
  return WorldOf(*std::move(builder).Build());
}

// The models of the prototype that PERFORMANCE §4.2 measures (plan2.cpp).
std::vector<std::vector<Shaped>> PrototypeLayers(int layers, int experts) {
  std::vector<Shaped> layer = {{"qkv", {10240, 8192}, 0},
                               {"proj", {8192, 8192}, 1},
                               {"norm1", {8192}},
                               {"norm2", {8192}}};
  if (experts == 0) {
    layer.push_back({"fc1", {57344, 8192}, 0});
    layer.push_back({"fc2", {8192, 28672}, 1});
  }
  for (int expert = 0; expert < experts; ++expert) {
    layer.push_back({absl::StrCat(expert, ".fc1"), {4096, 7168}, 0});
    layer.push_back({absl::StrCat(expert, ".fc2"), {7168, 2048}, 1});
  }
  return std::vector<std::vector<Shaped>>(layers, layer);
}

void PlanPrototypes(benchmark::State& state, int layers, int experts,
                    int target_pp) {
  const auto model = PrototypeLayers(layers, experts);
  PlanOf(state,
         *PlanInput::Create(Staged(model, 1024, 8, 8, /*zero=*/true),
                            Staged(model, 768, 4, target_pp, /*zero=*/true)));
}
BENCHMARK_CAPTURE(PlanPrototypes, dense_1024_to_768, 80, 0, 8)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(PlanPrototypes, moe_1024_to_768, 64, 256, 4)
    ->Unit(benchmark::kMicrosecond);

// 480 weights at 128 ranks, tp8 pp2 -> tp4 pp4: what plan_against_megatron.py
// has Megatron-Core's planner plan.
void Weights(benchmark::State& state, absl::string_view part) {
  const auto model = PrototypeLayers(80, 0);
  const World source = Staged(model, 128, 8, 2, /*zero=*/false);
  const World target = Staged(model, 128, 4, 4, /*zero=*/false);
  if (part == "World") return PlanAll(state, source, target);
  const PlanInput input = *PlanInput::Create(source, target);
  for (auto _ : state) {
    if (part == "Input") {
      benchmark::DoNotOptimize(
          PlanInput::Create(source, target)->AgreementDigest());
    } else {
      benchmark::DoNotOptimize(
          PlanForProcess(input, source.process(37).id)->sent_hash);
    }
  }
}
BENCHMARK_CAPTURE(Weights, Input, "Input")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Weights, Rank, "Rank")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Weights, World, "World")->Unit(benchmark::kMillisecond);

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
