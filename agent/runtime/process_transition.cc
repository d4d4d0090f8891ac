#include "agent/runtime/process_transition.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/runtime/ordered_world.h"
#include "api/manifest/json_codec.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "transition/plan/cover.h"
#include "transition/plan/make_input.h"
#include "transition/plan/world.h"
#include "vps/layout/manifest.h"

namespace dynatrain::runtime {
namespace {

using transition::BindingSide;
using transition::PeerExchange;
using transition::PlanInput;
using transition::ProcessPlan;
using transition::World;

// The manifest of this process, which must be that of the source world.
absl::StatusOr<vps::Manifest> AgreedManifest(absl::string_view built,
                                             const std::string& wanted) {
  ASSIGN_OR_RETURN(vps::Manifest ours, api::DecodeManifest(built), "manifest");
  if (wanted.empty()) return ours;
  ASSIGN_OR_RETURN(const vps::Manifest theirs, api::DecodeManifest(wanted),
                   "the transition's manifest");
  if (ours == theirs) return ours;
  return absl::FailedPreconditionError(absl::StrCat(
      "the model built for the new world is not that of the job:\n",
      vps::Difference(theirs, ours)));
}

// Keeps attempts at one generation apart, see transport/handshake.h.
Fingerprint AttemptOf(const api::TransitionOrder& order,
                      const PlanInput& input) {
  return Fingerprinter()
      .Append(order.id)
      .Append(order.generation)
      .Append(input.AgreementDigest())
      .Finish();
}

std::map<uint64_t, std::string> DataAddresses(
    const api::TransitionOrder& order) {
  std::map<uint64_t, std::string> addresses;
  for (const api::WorldOrder* world : {&order.source, &order.target}) {
    for (const api::MemberOrder& member : world->members) {
      for (const api::RankOrder& rank : member.ranks) {
        addresses[rank.process_id] = rank.data_address;
      }
    }
  }
  return addresses;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessTransition>> ProcessTransition::Create(
    api::TransitionOrder order, absl::string_view manifest,
    uint64_t process_id) {
  ASSIGN_OR_RETURN(const vps::Manifest agreed,
                   AgreedManifest(manifest, order.manifest));
  ASSIGN_OR_RETURN(World source, MakeWorld(order.source, agreed),
                   "the source world");
  ASSIGN_OR_RETURN(World target, MakeWorld(order.target, agreed),
                   "the target world");
  ASSIGN_OR_RETURN(
      transition::MadeInput made,
      transition::MakePlanInput(std::move(source), std::move(target)));
  ASSIGN_OR_RETURN(ProcessPlan plan,
                   transition::PlanForProcess(made.input, process_id));
  return CreateWithPlan(std::move(order), agreed.digest(),
                        std::move(made.input), std::move(plan));
}

absl::StatusOr<std::unique_ptr<ProcessTransition>>
ProcessTransition::CreateWithPlan(api::TransitionOrder order,
                                  Fingerprint manifest_digest, PlanInput input,
                                  ProcessPlan plan) {
  // A hole or an overlap would be silent: refused here, outside of the pause.
  RETURN_IF_ERROR(transition::CheckCover(input, plan));
  return std::unique_ptr<ProcessTransition>(new ProcessTransition(
      std::move(order), manifest_digest, std::move(input), std::move(plan)));
}

ProcessTransition::ProcessTransition(api::TransitionOrder order,
                                     Fingerprint manifest_digest,
                                     PlanInput input, ProcessPlan plan)
    : order_(std::move(order)),
      manifest_digest_(manifest_digest),
      input_(std::move(input)),
      plan_(std::move(plan)) {
  if (plan_.source_rank >= 0) {
    source_.emplace(input_, plan_.source_rank, BindingSide::kSource);
  }
  if (plan_.target_rank >= 0) {
    target_.emplace(input_, plan_.target_rank, BindingSide::kTarget);
  }
}

transition::TransportPeer ProcessTransition::PeerOf(
    const PeerExchange& exchange) const {
  const uint32_t own_member =
      plan_.source_rank >= 0
          ? input_.source().process(plan_.source_rank).member
          : input_.target().process(plan_.target_rank).member;
  // By its rank in the world that people know it from.
  const int rank = exchange.peer_source_rank >= 0 ? exchange.peer_source_rank
                                                  : exchange.peer_target_rank;
  return {.process_id = exchange.peer.id,
          .data_address = DataAddresses(order_)[exchange.peer.id],
          .same_member = exchange.peer.member == own_member,
          .name = absl::StrCat(
              exchange.peer_source_rank >= 0 ? "rank " : "new rank ", rank,
              " (serial ", exchange.peer.member, ")")};
}

absl::Status ProcessTransition::Connect(
    transition::Transport& transport, const transition::StagingBudget& budget,
    Deadline deadline, const transition::Cancellation& cancel) {
  transition::ConnectRequest request;
  request.generation = order_.generation;
  request.attempt = AttemptOf(order_, input_);
  ASSIGN_OR_RETURN(request.staging_bytes_per_direction,
                   budget.PerDirection(plan_.peers.size()));
  for (const PeerExchange& exchange : plan_.peers) {
    request.peers.push_back(PeerOf(exchange));
  }
  ASSIGN_OR_RETURN(transition::Links links,
                   transport.Connect(request, deadline, cancel));
  absl::MutexLock lock(&mutex_);
  links_ = std::move(links);
  state_ = State::kConnected;
  return absl::OkStatus();
}

size_t ProcessTransition::staging_bytes() const {
  absl::MutexLock lock(&mutex_);
  size_t bytes = 0;
  for (const auto& [id, link] : links_) bytes += link->staging_bytes();
  return bytes;
}

absl::Status ProcessTransition::Bind(BindingSide side, int64_t tensor,
                                     void* data,
                                     absl::Span<const int64_t> shape,
                                     absl::Span<const int64_t> strides_bytes) {
  absl::MutexLock lock(&mutex_);
  if (state_ == State::kRunning || state_ == State::kDone) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the transfer of generation ", order_.generation, " has begun"));
  }
  auto& bindings = side == BindingSide::kSource ? source_ : target_;
  if (!bindings.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("this process is not in the ",
                     side == BindingSide::kSource ? "source" : "target",
                     " world of generation ", order_.generation));
  }
  return bindings->Bind(tensor, /*copy=*/0, data, shape, strides_bytes);
}

absl::Status ProcessTransition::PutBlob(transition::BlobKind kind,
                                        std::string bytes) {
  absl::MutexLock lock(&mutex_);
  if (state_ == State::kRunning || state_ == State::kDone) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the transfer of generation ", order_.generation, " has begun"));
  }
  put_[kind] = std::move(bytes);
  return absl::OkStatus();
}

std::string ProcessTransition::GetBlob(transition::BlobKind kind) const {
  absl::MutexLock lock(&mutex_);
  const auto blob = got_.find(kind);
  return blob == got_.end() ? "" : blob->second;
}

absl::StatusOr<transition::TransferReport> ProcessTransition::Run(
    Deadline deadline, const transition::Cancellation& cancel) {
  transition::TransferInput transfer;
  transfer.plan = &plan_;
  transfer.plan_input = &input_;
  transfer.source = source_.has_value() ? &*source_ : nullptr;
  transfer.target = target_.has_value() ? &*target_ : nullptr;
  transfer.links = &links_;
  {
    absl::MutexLock lock(&mutex_);
    if (state_ != State::kConnected) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the transfer of generation ", order_.generation,
          state_ == State::kNew
              ? " isn't planned"
              : " has run already; links of a broken transfer can't be used "
                "again"));
    }
    state_ = State::kRunning;
    transfer.blobs = put_;
  }
  absl::StatusOr<transition::TransferReport> report =
      transition::RunTransfer(transfer, deadline, cancel);
  absl::MutexLock lock(&mutex_);
  state_ = State::kDone;
  if (report.ok()) got_ = report->blobs;
  return report;
}

void ProcessTransition::Release() {
  absl::MutexLock lock(&mutex_);
  links_.clear();
  source_.reset();
  target_.reset();
  put_.clear();
  state_ = State::kDone;
}

}  // namespace dynatrain::runtime
