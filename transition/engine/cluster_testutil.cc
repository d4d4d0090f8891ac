#include "transition/engine/cluster_testutil.h"

#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::transition {
namespace {

absl::Status BindAll(TensorState& state, Bindings& bindings) {
  absl::Status status;
  state.ForEachTensor([&](int tensor, std::byte* data,
                          absl::Span<const int64_t> shape,
                          absl::Span<const int64_t> strides_bytes) {
    status.Update(bindings.Bind(tensor, data, shape, strides_bytes));
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

absl::StatusOr<TransferReport> TestCluster::RunOne(const PlanInput& input,
                                                   uint64_t process_id,
                                                   const Part& part,
                                                   Outcome& outcome,
                                                   Deadline deadline) {
  Member& self = member(process_id);
  ASSIGN_OR_RETURN(const ProcessPlan plan, PlanForProcess(input, process_id));
  ConnectRequest request;
  request.generation = generation_;
  request.attempt = input.AgreementDigest();
  request.staging_bytes_per_direction =
      StagingBudget{.per_direction_bytes = 64 << 10}
          .PerDirection(plan.peers.size())
          .value();
  for (const PeerExchange& peer : plan.peers) {
    request.peers.push_back(
        {.process_id = peer.peer.id,
         .data_address = member(peer.peer.id).transport->address(),
         .same_member = peer.peer.member ==
                        (plan.source_rank >= 0
                             ? input.source().process(plan.source_rank).member
                             : input.target().process(plan.target_rank).member),
         .name = absl::StrCat("process ", peer.peer.id)});
  }
  static const Cancellation never;
  const Cancellation& cancel = part.cancel == nullptr ? never : *part.cancel;
  ASSIGN_OR_RETURN(outcome.links,
                   self.transport->Connect(request, deadline, never));
  std::unique_ptr<Bindings> source, targets;
  if (plan.source_rank >= 0) {
    source = std::make_unique<Bindings>(input.source().layout(),
                                        plan.source_rank, BindingSide::kSource);
    RETURN_IF_ERROR(BindAll(self.state, *source));
  }
  if (plan.target_rank >= 0) {
    targets = std::make_unique<Bindings>(
        input.target().layout(), plan.target_rank, BindingSide::kTarget);
    RETURN_IF_ERROR(BindAll(outcome.target, *targets));
  }
  if (part.run) return part.run(outcome.links);
  TransferInput transfer;
  transfer.plan = &plan;
  transfer.manifest = input.manifest();
  transfer.source = source.get();
  transfer.target = targets.get();
  transfer.links = &outcome.links;
  transfer.blobs = self.blobs;
  transfer.hooks = &part.hooks;
  return RunTransfer(transfer, deadline, cancel);
}

std::map<uint64_t, TestCluster::Outcome> TestCluster::Run(
    const PlanInput& input, std::map<uint64_t, Part> parts,
    std::chrono::milliseconds limit) {
  ++generation_;
  std::set<uint64_t> ids;
  for (const World* world : {&input.source(), &input.target()}) {
    for (const Process& process : world->processes()) ids.insert(process.id);
  }
  std::map<uint64_t, Outcome> outcomes;
  for (uint64_t id : ids) {
    GetOrMake(id);
    parts[id];
    outcomes[id].target = TensorState::Allocate(
        input.target(), input.target().RankOf(id).value_or(-1), random_);
  }
  std::vector<std::thread> threads;
  for (uint64_t id : ids) {
    threads.emplace_back([this, &input, id, &part = parts[id],
                          &outcome = outcomes[id], limit] {
      outcome.report = RunOne(input, id, part, outcome, Deadline::After(limit));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t id : ids) member(id).transport->Forget(generation_);
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
