// How long it takes to make and to judge a schedule, by world size. List
// schedules are made while preparing, by each rank, so a second is fine and a
// minute isn't.
//
//   bazel run -c opt //bench:schedule_bench
//
// "flows" go in; "parcels" come out; "over_bound" is the makespan in the port
// model over the lower bound.
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/list_schedule.h"
#include "transition/schedule/lower_bounds.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/port_map.h"
#include "transition/schedule/port_model.h"
#include "transition/schedule/traffic_patterns.h"
#include "transition/schedule/transfer_plan.h"
#include "transition/schedule/xor_windows.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

// What a change of layout gives: each rank sends to 16 others.
Traffic Sparse(int ranks) {
  std::mt19937_64 random(1);
  return SparseTraffic(ranks, 16, 64 << 20, random);
}

void Report(benchmark::State& state, const Traffic& traffic,
            const Schedule& order) {
  state.counters["flows"] = static_cast<double>(traffic.flows().size());
  state.counters["parcels"] = static_cast<double>(order.parcels.size());
  state.counters["over_bound"] =
      static_cast<double>(
          OrderedMakespan(order, PortMap::Own(traffic.num_ranks()))) /
      static_cast<double>(RankBound(traffic));
}

void ListOfSparse(benchmark::State& state) {
  const Traffic traffic = Sparse(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(MakeListSchedule(traffic));
  Report(state, traffic, OrderOf(MakeListSchedule(traffic)));
}
BENCHMARK(ListOfSparse)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);

// All send to all the same: each port is without slack, the worst there is.
void ListOfUniform(benchmark::State& state) {
  const Traffic traffic =
      UniformTraffic(static_cast<int>(state.range(0)), 1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(MakeListSchedule(traffic));
  Report(state, traffic, OrderOf(MakeListSchedule(traffic)));
}
BENCHMARK(ListOfUniform)
    ->Arg(48)
    ->Arg(64)
    ->Arg(192)
    ->Arg(384)
    ->Arg(512)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);

// Ports of very different loads, a flow for each pair.
void ListOfRandom(benchmark::State& state) {
  std::mt19937_64 random(1);
  const int ranks = static_cast<int>(state.range(0));
  const Traffic traffic = SparseTraffic(ranks, 3 * ranks, 1 << 20, random);
  for (auto _ : state) benchmark::DoNotOptimize(MakeListSchedule(traffic));
  Report(state, traffic, OrderOf(MakeListSchedule(traffic)));
}
BENCHMARK(ListOfRandom)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);

void XorOfSparse(benchmark::State& state) {
  const Traffic traffic = Sparse(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(XorSchedule(traffic, {}));
  Report(state, traffic, XorOrder(traffic, 8));
}
BENCHMARK(XorOfSparse)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);

// All of it: both schedules, cut into windows, under both models.
void Choose(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const Traffic traffic = Sparse(ranks);
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = ranks / 8,
                             .inside_bytes_per_second = 200'000'000'000,
                             .nic_bytes_per_second = 25'000'000'000});
  for (auto _ : state) {
    benchmark::DoNotOptimize(ChooseSchedule(traffic, cluster, {}));
  }
  state.counters["flows"] = static_cast<double>(traffic.flows().size());
}
BENCHMARK(Choose)->RangeMultiplier(4)->Range(64, 1024)->Unit(
    benchmark::kMillisecond);

// 8 replicas become as many as there are ranks: chains of all of them, judged
// and in windows.
void TransferOfScaleOut(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  std::vector<Move> all;
  for (int rank = 8; rank < ranks; ++rank) {
    for (int part = 0; part < 8; ++part) {
      const int64_t bytes = 128 << 20;
      all.push_back({.sender = (rank + part) % 8,
                     .receiver = rank,
                     .piece = {0, *vps::Box::Create({part * bytes}, {bytes})}});
    }
  }
  const Moves moves = *Moves::Create(ranks, {1}, std::move(all));
  const ClusterModel cluster =
      *ClusterModel::Create({.num_nodes = ranks / 8,
                             .inside_bytes_per_second = 200'000'000'000,
                             .nic_bytes_per_second = 25'000'000'000});
  int64_t parcels = 0;
  for (auto _ : state) {
    const TransferPlan plan = *PlanTransfer(moves, cluster);
    parcels = static_cast<int64_t>(plan.Schedules().back().parcels.size());
  }
  state.counters["moves"] = static_cast<double>(moves.all().size());
  state.counters["parcels"] = static_cast<double>(parcels);
}
BENCHMARK(TransferOfScaleOut)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dynatrain::transition
