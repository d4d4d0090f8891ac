#include "transition/engine/cluster_testutil.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::transition {
namespace {

absl::Status BindAll(TensorState& state, Bindings& bindings) {
  absl::Status status;
  state.ForEachTensor([&](int tensor, int copy, std::byte* data,
                          absl::Span<const int64_t> shape,
                          absl::Span<const int64_t> strides_bytes) {
    status.Update(bindings.Bind(tensor, copy, data, shape, strides_bytes));
  });
  return status;
}

}  // namespace

TestCluster::Member& TestCluster::GetOrMake(uint64_t process_id) {
  std::unique_ptr<Member>& member = members_[process_id];
  if (member == nullptr) {
    member = std::make_unique<Member>();
    LinkListener::Options options;
    options.process_id = process_id;
    options.ip = "127.0.0.1";
    options.key = kKey;
    member->transport = HostTransport::Create(options).value();
  }
  return *member;
}

void TestCluster::Start(const World& world) {
  for (int rank = 0; rank < world.size(); ++rank) {
    Member& member = GetOrMake(world.process(rank).id);
    member.state = TensorState::Allocate(world, rank, random_);
    member.state.FillWithValues();
    member.blobs = {{BlobKind::kCommon, "step 17"},
                    {BlobKind::kCoordinate, absl::StrCat("rng of ", rank)}};
  }
}

absl::StatusOr<Links> TestCluster::ConnectOne(const PlanInput& input,
                                              const ProcessPlan& plan) {
  ConnectRequest request;
  request.generation = generation_;
  request.attempt = input.AgreementDigest();
  request.staging_bytes_per_direction =
      StagingBudget{.per_direction_bytes = 64 << 10}
          .PerDirection(plan.peers.size())
          .value();
  const uint32_t own_member =
      plan.source_rank >= 0 ? input.source().process(plan.source_rank).member
                            : input.target().process(plan.target_rank).member;
  for (const PeerExchange& peer : plan.peers) {
    request.peers.push_back(
        {.process_id = peer.peer.id,
         .data_address = member(peer.peer.id).transport->address(),
         .same_member = peer.peer.member == own_member,
         .name = absl::StrCat("process ", peer.peer.id)});
  }
  const Cancellation never;
  return member(plan.process_id)
      .transport->Connect(request, Deadline::After(std::chrono::seconds(60)),
                          never);
}

absl::StatusOr<TransferReport> TestCluster::MoveOne(const PlanInput& input,
                                                    const ProcessPlan& plan,
                                                    const Part& part,
                                                    Outcome& outcome,
                                                    Deadline deadline) {
  Member& self = member(plan.process_id);
  std::unique_ptr<Bindings> source, targets;
  if (plan.source_rank >= 0) {
    source = std::make_unique<Bindings>(input, plan.source_rank,
                                        BindingSide::kSource);
    RETURN_IF_ERROR(BindAll(self.state, *source));
  }
  if (plan.target_rank >= 0) {
    targets = std::make_unique<Bindings>(input, plan.target_rank,
                                         BindingSide::kTarget);
    RETURN_IF_ERROR(BindAll(outcome.target, *targets));
  }
  if (part.run) return part.run(outcome.links);
  TransferInput transfer;
  transfer.plan = &plan;
  transfer.plan_input = &input;
  transfer.source = source.get();
  transfer.target = targets.get();
  transfer.links = &outcome.links;
  transfer.blobs = self.blobs;
  transfer.hooks = &part.hooks;
  const Cancellation never;
  return RunTransfer(transfer, deadline,
                     part.cancel == nullptr ? never : *part.cancel);
}

std::map<uint64_t, TestCluster::Outcome> TestCluster::Run(
    const PlanInput& input, std::map<uint64_t, Part> parts,
    std::chrono::milliseconds limit) {
  ++generation_;
  std::map<uint64_t, ProcessPlan> plans;
  std::map<uint64_t, Outcome> outcomes;
  for (const World* world : {&input.source(), &input.target()}) {
    for (const Process& process : world->processes()) {
      GetOrMake(process.id);
      parts[process.id];
      plans[process.id] = PlanForProcess(input, process.id).value();
      outcomes[process.id].target = TensorState::Allocate(
          input.target(), input.target().RankOf(process.id).value_or(-1),
          random_);
    }
  }
  const auto on_all = [&](const std::function<void(uint64_t id)>& work) {
    std::vector<std::thread> threads;
    for (const auto& [id, plan] : plans) {
      threads.emplace_back([&work, id = id] { work(id); });
    }
    for (std::thread& thread : threads) thread.join();
  };
  on_all([&](uint64_t id) {
    outcomes.at(id).links = ConnectOne(input, plans.at(id)).value();
  });
  const Deadline deadline = Deadline::After(limit);
  on_all([&](uint64_t id) {
    Outcome& outcome = outcomes.at(id);
    outcome.report =
        MoveOne(input, plans.at(id), parts.at(id), outcome, deadline);
  });
  for (const auto& [id, plan] : plans) {
    member(id).transport->Forget(generation_);
  }
  return outcomes;
}

void TestCluster::Commit(const PlanInput& input,
                         std::map<uint64_t, Outcome> outcomes) {
  for (auto& [id, outcome] : outcomes) {
    if (input.target().RankOf(id).has_value()) {
      member(id).state = std::move(outcome.target);
      member(id).blobs = outcome.report->blobs;
    } else {
      members_.erase(id);
    }
  }
}

}  // namespace dynatrain::transition
