#include "transition/engine/cluster_testutil.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"
#include "vps/geometry/strided_run.h"

namespace dynatrain::transition {
namespace {

int64_t Draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// The bits of one element of the job's state.
void ValueOf(uint64_t tensor_hash, int64_t flat_index,
             absl::Span<std::byte> value) {
  uint64_t bits = tensor_hash + flat_index * 0x9E3779B97F4A7C15;
  for (size_t i = 0; i < value.size(); i += 8) {
    bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9;
    memcpy(value.data() + i, &bits, std::min<size_t>(8, value.size() - i));
  }
}

}  // namespace

TensorState TensorState::Allocate(const World& world, int rank,
                                  std::mt19937_64& random) {
  TensorState state;
  state.world_ = world;
  state.rank_ = rank;
  if (rank < 0) return state;
  for (int t = 0; t < world.layout().num_tensors(); ++t) {
    const vps::Box box = world.layout().LocalBox(rank, t);
    const int64_t item_bytes =
        world.layout().manifest().tensor(t).spec.item_bytes();
    std::vector<int> order(box.dims());
    std::iota(order.begin(), order.end(), 0);
    if (Draw(random, 0, 3) == 0) {
      std::shuffle(order.begin(), order.end(), random);
    }
    std::vector<int64_t>& strides = state.strides_bytes_[t];
    strides.resize(box.dims());
    int64_t stride = item_bytes;
    for (int i = box.dims() - 1; i >= 0; --i) {
      strides[order[i]] = stride;
      stride *= std::max<int64_t>(box.extent(order[i]), 1);
      if (Draw(random, 0, 4) == 0) stride += item_bytes;
    }
    std::vector<std::byte>& memory = state.memory_[t];
    memory.resize(stride);
    for (size_t i = 0; i < memory.size(); ++i) {
      memory[i] = std::byte(0xA5 ^ i);
    }
  }
  return state;
}

void TensorState::ForEachElement(
    const std::function<void(int tensor, int64_t offset,
                             absl::Span<const std::byte> value)>& visit) const {
  std::byte value[16];
  for (const auto& [t, strides] : strides_bytes_) {
    const vps::Box box = world_.layout().LocalBox(rank_, t);
    const vps::TensorSpec& spec = world_.layout().manifest().tensor(t).spec;
    const uint64_t hash = FingerprintOf(spec.Id()).low;
    const absl::Span<std::byte> bits(value, spec.item_bytes());
    std::vector<int64_t> index(box.origin().begin(), box.origin().end());
    for (int64_t n = 0; n < box.num_elements(); ++n) {
      int64_t offset = 0;
      for (int d = 0; d < box.dims(); ++d) {
        offset += (index[d] - box.origin(d)) * strides[d];
      }
      ValueOf(hash, vps::FlatIndex(index, spec.shape()), bits);
      visit(t, offset, bits);
      for (int d = box.dims() - 1; d >= 0; --d) {
        if (++index[d] < box.origin(d) + box.extent(d)) break;
        index[d] = box.origin(d);
      }
    }
  }
}

void TensorState::FillWithValues() {
  ForEachElement([&](int t, int64_t offset, absl::Span<const std::byte> value) {
    memcpy(memory_[t].data() + offset, value.data(), value.size());
  });
}

std::string TensorState::FirstWrongElement() const {
  std::string wrong;
  ForEachElement([&](int t, int64_t offset, absl::Span<const std::byte> value) {
    if (wrong.empty() && memcmp(memory_.at(t).data() + offset, value.data(),
                                value.size()) != 0) {
      wrong = absl::StrCat(world_.layout().manifest().tensor(t).spec.Id(),
                           " of rank ", rank_, " at offset ", offset);
    }
  });
  return wrong;
}

absl::Status TensorState::BindTo(Bindings& bindings) {
  for (auto& [t, memory] : memory_) {
    RETURN_IF_ERROR(bindings.Bind(t, memory.data(),
                                  world_.layout().LocalBox(rank_, t).shape(),
                                  strides_bytes_[t]));
  }
  return absl::OkStatus();
}

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
    RETURN_IF_ERROR(self.state.BindTo(*source));
  }
  if (plan.target_rank >= 0) {
    targets = std::make_unique<Bindings>(
        input.target().layout(), plan.target_rank, BindingSide::kTarget);
    RETURN_IF_ERROR(outcome.target.BindTo(*targets));
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
