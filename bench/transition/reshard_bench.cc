// A whole transfer between real links of two to four ranks: rows to columns of
// 256 MiB, with digests at both ends, against the floor (each rank copies the
// bytes of its own target, all at a time). Ranks are threads here; links are
// those between processes.
//
//   bazel run -c opt //bench/transition:reshard_bench
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/deadline.h"
#include "bench/transition/ratio.h"
#include "transition/engine/bindings.h"
#include "transition/engine/transfer.h"
#include "transition/plan/process_plan.h"
#include "transition/transport/cancellation.h"
#include "transition/transport/host_transport.h"
#include "transition/transport/transport.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kEdge = 2048;
constexpr int kTensors = 16;
constexpr int64_t kBytes = kTensors * kEdge * kEdge * 4;

PlanInput MakeInput(int ranks, bool one_pod) {
  std::vector<vps::ManifestTensor> tensors;
  for (int i = 0; i < kTensors; ++i) {
    tensors.push_back(
        {vps::TensorSpec::Create(absl::StrCat("w", i), "param",
                                 vps::Dtype::kFloat32, {kEdge, kEdge})
             .value(),
         {{"dp", 0}, {"tp", 1}}});
  }
  const vps::Manifest manifest =
      vps::Manifest::Create(std::move(tensors)).value();
  std::vector<Process> processes;
  for (int i = 0; i < ranks; ++i) {
    processes.push_back(
        {uint64_t{0xBE9C000} + i + 1, static_cast<uint32_t>(one_pod ? 0 : i)});
  }
  const auto world = [&](int64_t dp, int64_t tp) {
    return World::Create(
               vps::MakeLayout(
                   vps::Mesh::Of(
                       vps::AxisSizes::Create({.dp = dp, .tp = tp}).value()),
                   manifest)
                   .value(),
               processes)
        .value();
  };
  return PlanInput::Create(world(ranks, 1), world(1, ranks)).value();
}

void Check(const absl::Status& status) {
  if (status.ok()) return;
  fprintf(stderr, "%s\n", status.ToString().c_str());
  abort();
}

struct Rank {
  std::unique_ptr<HostTransport> transport;
  ProcessPlan plan;
  std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::unique_ptr<Bindings> sources, targets;
  Links links;
};

void OnAll(std::vector<Rank>& ranks, const std::function<void(Rank&)>& work) {
  std::vector<std::thread> threads;
  for (Rank& rank : ranks) threads.emplace_back([&] { work(rank); });
  for (std::thread& thread : threads) thread.join();
}

void Bind(Bindings& bindings, std::byte* memory,
          const std::vector<int64_t>& shape) {
  for (int t = 0; t < kTensors; ++t) {
    const absl::Status bound =
        bindings.Bind(t, /*copy=*/0, memory + t * shape[0] * shape[1] * 4,
                      shape, {shape[1] * 4, 4});
    Check(bound);
  }
}

void Run(int num_ranks, bool one_pod) {
  const PlanInput input = MakeInput(num_ranks, one_pod);
  const Cancellation cancel;
  std::vector<Rank> ranks(num_ranks);
  const int64_t each = kBytes / num_ranks;
  for (int i = 0; i < num_ranks; ++i) {
    Rank& rank = ranks[i];
    LinkListener::Options options;
    options.process_id = input.source().process(i).id;
    options.ip = "127.0.0.1";
    options.key = "key";
    rank.transport = HostTransport::Create(options).value();
    rank.plan = PlanForProcess(input, options.process_id).value();
    rank.source = bench::Allocate(each);
    rank.target = bench::Allocate(each);
    rank.sources = std::make_unique<Bindings>(input, i, BindingSide::kSource);
    rank.targets = std::make_unique<Bindings>(input, i, BindingSide::kTarget);
    Bind(*rank.sources, rank.source, {kEdge / num_ranks, kEdge});
    Bind(*rank.targets, rank.target, {kEdge, kEdge / num_ranks});
  }
  OnAll(ranks, [&](Rank& rank) {
    ConnectRequest request;
    request.generation = 2;
    request.staging_bytes_per_direction = StagingBudget().per_direction_bytes;
    for (const PeerExchange& peer : rank.plan.peers) {
      request.peers.push_back(
          {peer.peer.id, ranks[peer.peer_source_rank].transport->address(),
           one_pod, absl::StrCat("rank ", peer.peer_source_rank)});
    }
    rank.links =
        rank.transport
            ->Connect(request, Deadline::After(std::chrono::seconds(10)),
                      cancel)
            .value();
  });
  bench::Compare(
      absl::StrCat(num_ranks, " ranks, floor").c_str(),
      [&] {
        OnAll(ranks,
              [&](Rank& rank) { memcpy(rank.target, rank.source, each); });
      },
      {{absl::StrCat("rows to columns, ", one_pod ? "shared memory" : "TCP",
                     ", digests at both ends"),
        [&] {
          OnAll(ranks, [&](Rank& rank) {
            TransferInput transfer;
            transfer.plan = &rank.plan;
            transfer.plan_input = &input;
            transfer.source = rank.sources.get();
            transfer.target = rank.targets.get();
            transfer.links = &rank.links;
            const auto report = RunTransfer(
                transfer, Deadline::After(std::chrono::seconds(60)), cancel);
            Check(report.status());
          });
        }}},
      kBytes);
}

}  // namespace
}  // namespace dynatrain::transition

int main() {
  for (int ranks : {2, 4}) {
    for (bool one_pod : {true, false}) {
      dynatrain::transition::Run(ranks, one_pod);
    }
  }
}
