#include "agent/runtime/session.h"

#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/runtime/plan_summary.h"
#include "api/rank/transition_order.h"
#include "base/status_macros.h"

namespace dynatrain::runtime {
namespace {

using api::Frame;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr char kRuntimeVersion[] = "0.1.0";
constexpr std::chrono::milliseconds kOpenLimit{30'000};
// The agent reads its sockets from a thread of its own; one that takes longer
// is ill.
constexpr std::chrono::milliseconds kSendLimit{60'000};
// Pods that are still being started are waited for; the operator's own
// deadline for the preparation, which aborts, is shorter.
constexpr std::chrono::milliseconds kConnectLimit{30 * 60'000};

uint64_t RandomProcessId() {
  uint64_t id = 0;
  while (id == 0) {
    [[maybe_unused]] const ssize_t n = getrandom(&id, sizeof(id), 0);
  }
  return id;
}

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

absl::StatusOr<json> Greet(api::FrameChannel& channel,
                           const SessionConfig& config, uint64_t process_id,
                           const std::string& data_address, Deadline deadline) {
  RETURN_IF_ERROR(
      channel.Send(Frame::Of({{"kind", "hello"},
                              {"protocol", api::kRankProtocol},
                              {"local_rank", config.local_rank},
                              {"pid", getpid()},
                              {"process_id", process_id},
                              {"data_address", data_address},
                              {"runtime_version", kRuntimeVersion}}),
                   deadline));
  ASSIGN_OR_RETURN(const Frame frame, channel.Receive(deadline));
  if (frame.kind() != "welcome") {
    return absl::FailedPreconditionError(absl::StrCat(
        "the agent said \"", frame.kind(), "\" instead of \"welcome\""));
  }
  ASSIGN_OR_RETURN(const uint64_t protocol, frame.Uint("protocol"));
  if (protocol != api::kRankProtocol) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the agent speaks protocol ", protocol, ", this library ",
        api::kRankProtocol, ": both must come from one agent image"));
  }
  return frame.fields();
}

bool IsIn(const api::WorldOrder& world, uint64_t process_id) {
  for (const api::MemberOrder& member : world.members) {
    for (const api::RankOrder& rank : member.ranks) {
      if (rank.process_id == process_id) return true;
    }
  }
  return false;
}

absl::Status NotPlanned(uint64_t generation) {
  return absl::FailedPreconditionError(absl::StrCat(
      "there is no plan for generation ", generation, ": call dt_plan first"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Open(SessionConfig config) {
  const Deadline deadline = Deadline::After(kOpenLimit);
  const uint64_t process_id = RandomProcessId();
  transition::LinkListener::Options options;
  options.process_id = process_id;
  options.ip = config.pod_ip;
  options.key = config.key;
  ASSIGN_OR_RETURN(auto transport, transition::HostTransport::Create(options));
  ASSIGN_OR_RETURN(auto channel,
                   api::FrameChannel::Connect(config.socket, deadline),
                   "the agent's socket");
  ASSIGN_OR_RETURN(json welcome, Greet(*channel, config, process_id,
                                       transport->address(), deadline));
  return std::unique_ptr<Session>(
      new Session(std::move(config), process_id, std::move(channel),
                  std::move(transport), std::move(welcome)));
}

Session::Session(SessionConfig config, uint64_t process_id,
                 std::unique_ptr<api::FrameChannel> channel,
                 std::unique_ptr<transition::HostTransport> transport,
                 json welcome)
    : config_(std::move(config)),
      process_id_(process_id),
      channel_(std::move(channel)),
      transport_(std::move(transport)),
      welcome_(std::move(welcome)),
      store_([this](const Frame& frame) {
        return channel_->Send(frame, Deadline::After(kSendLimit));
      }),
      control_([this] { ReadFrames(); }) {}

Session::~Session() {
  channel_->Cancel();
  control_.join();
}

void Session::ReadFrames() {
  while (true) {
    const absl::StatusOr<Frame> frame = channel_->Receive(Deadline::Never());
    const absl::Status status = frame.ok() ? Obey(*frame) : frame.status();
    if (!status.ok()) return Lose(status.message());
  }
}

void Session::Lose(absl::string_view reason) {
  orders_.Lose(reason);
  const absl::Status lost =
      absl::UnavailableError(absl::StrCat("the agent is gone: ", reason));
  store_.Lose(lost);
  absl::MutexLock lock(&mutex_);
  lost_ = lost;
}

void Session::Instruct(json instruction) {
  absl::MutexLock lock(&mutex_);
  instructions_.push_back(std::move(instruction));
}

absl::Status Session::Obey(const Frame& frame) {
  const std::string& kind = frame.kind();
  if (kind == "store_reply") return store_.Deliver(frame);
  if (kind == "prepare") return ObeyPrepare(frame);
  if (kind == "arm") return ObeyArm(frame);
  if (kind == "dismiss") {
    ASSIGN_OR_RETURN(const std::string reason, frame.Text("reason"));
    orders_.Dismiss(reason);
    Instruct(frame.fields());
    return absl::OkStatus();
  }
  const bool known =
      kind == "go" || kind == "cancel" || kind == "abort" || kind == "commit";
  if (!known) {
    return absl::InvalidArgumentError(absl::StrCat(
        "it sent a frame \"", kind, "\" that this library ", "doesn't know"));
  }
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  if (kind == "go") orders_.Go(generation);
  if (kind == "cancel") orders_.Cancel(generation);
  if (kind == "abort") orders_.Abort(generation);
  if (kind == "commit") orders_.Commit(generation);
  if (kind == "abort" || kind == "commit") Instruct(frame.fields());
  return absl::OkStatus();
}

absl::Status Session::ObeyPrepare(const Frame& frame) {
  if (!frame.Has("transition")) {
    return absl::InvalidArgumentError("a \"prepare\" without a transition");
  }
  ASSIGN_OR_RETURN(const api::TransitionOrder order,
                   api::ReadTransitionOrder(frame.fields().at("transition")));
  std::optional<uint64_t> source_generation;
  if (IsIn(order.source, process_id_)) {
    source_generation = order.source.generation;
  }
  orders_.Prepare(order.generation, source_generation);
  Instruct(frame.fields());
  return absl::OkStatus();
}

absl::Status Session::ObeyArm(const Frame& frame) {
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  ASSIGN_OR_RETURN(const uint64_t step, frame.Uint("step"));
  const Orders::ArmAnswer answer = orders_.Arm(generation, step);
  RETURN_IF_ERROR(Send({{"kind", "armed"},
                        {"g", generation},
                        {"step", step},
                        {"ok", answer.ok},
                        {"seen", answer.seen}}));
  orders_.ArmAnswered(generation);
  return absl::OkStatus();
}

absl::Status Session::Send(json fields) {
  return channel_->Send(Frame::Of(std::move(fields)),
                        Deadline::After(kSendLimit));
}

absl::StatusOr<json> Session::Next(Deadline deadline) {
  absl::MutexLock lock(&mutex_);
  auto ready = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !instructions_.empty() || !lost_.ok();
  };
  const absl::Duration wait =
      deadline.never()
          ? absl::InfiniteDuration()
          : absl::FromChrono(deadline.when() - Deadline::Clock::now());
  if (!mutex_.AwaitWithTimeout(absl::Condition(&ready), wait)) {
    return absl::DeadlineExceededError("no instruction from the agent");
  }
  if (instructions_.empty()) return lost_;
  json instruction = std::move(instructions_.front());
  instructions_.pop_front();
  return instruction;
}

absl::Status Session::Report(json fields) {
  ASSIGN_OR_RETURN(const Frame frame, Frame::Create(std::move(fields)));
  const std::string& kind = frame.kind();
  // The others are the runtime's own to say.
  if (kind != "step" && kind != "prepared" && kind != "failed" &&
      kind != "resumed" && kind != "left" && kind != "finished") {
    return absl::InvalidArgumentError(
        absl::StrCat("a rank doesn't report \"", kind, "\""));
  }
  if (kind != "prepared") {
    return channel_->Send(frame, Deadline::After(kSendLimit));
  }
  ASSIGN_OR_RETURN(const uint64_t generation, frame.Uint("g"));
  ASSIGN_OR_RETURN(const auto transition, Find(generation));
  json prepared = frame.fields();
  prepared.update(PlanFigures(*transition));
  return Send(std::move(prepared));
}

absl::StatusOr<json> Session::Plan(const json& transition,
                                   absl::string_view manifest) {
  const Clock::time_point begin = Clock::now();
  ASSIGN_OR_RETURN(api::TransitionOrder order,
                   api::ReadTransitionOrder(transition));
  const uint64_t generation = order.generation;
  const auto cancel = orders_.cancellation(generation);
  if (cancel == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the agent hasn't ordered a transition to generation ", generation));
  }
  RETURN_IF_ERROR(cancel->status());
  ASSIGN_OR_RETURN(
      std::shared_ptr<ProcessTransition> planned,
      ProcessTransition::Create(std::move(order), manifest, process_id_));
  const double plan_ms = MillisecondsSince(begin);
  // Before it waits for anybody: whose plan is another may never come.
  json told = AgreedFigures(*planned);
  told["kind"] = "planned";
  told["g"] = generation;
  RETURN_IF_ERROR(Send(std::move(told)));
  RETURN_IF_ERROR(planned->Connect(*transport_, config_.staging,
                                   Deadline::After(kConnectLimit), *cancel));
  {
    absl::MutexLock lock(&mutex_);
    // Dropped or ordered anew meanwhile: nobody would drop this one again.
    if (orders_.cancellation(generation) != cancel) {
      return absl::CancelledError(absl::StrCat("the transition to generation ",
                                               generation, " was dropped"));
    }
    planned_[generation] = {.transition = planned};
  }
  return PlanSummary(
      *planned,
      {{"plan", plan_ms}, {"connect", MillisecondsSince(begin) - plan_ms}});
}

absl::StatusOr<std::shared_ptr<ProcessTransition>> Session::Find(
    uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  const auto it = planned_.find(generation);
  if (it == planned_.end()) return NotPlanned(generation);
  return it->second.transition;
}

absl::Status Session::Bind(uint64_t generation, transition::BindingSide side,
                           int64_t tensor, void* data,
                           absl::Span<const int64_t> shape,
                           absl::Span<const int64_t> strides_bytes) {
  ASSIGN_OR_RETURN(const auto transition, Find(generation));
  return transition->Bind(side, tensor, data, shape, strides_bytes);
}

absl::Status Session::PutBlob(uint64_t generation, transition::BlobKind kind,
                              std::string bytes) {
  ASSIGN_OR_RETURN(const auto transition, Find(generation));
  return transition->PutBlob(kind, std::move(bytes));
}

absl::StatusOr<std::string> Session::GetBlob(uint64_t generation,
                                             transition::BlobKind kind) {
  ASSIGN_OR_RETURN(const auto transition, Find(generation));
  return transition->GetBlob(kind);
}

absl::StatusOr<BoundaryAction> Session::Boundary(uint64_t generation,
                                                 uint64_t step) {
  const absl::Status alive = orders_.Alive();
  if (absl::IsUnavailable(alive)) return alive;
  return orders_.Boundary(generation, step);
}

absl::StatusOr<std::shared_ptr<ProcessTransition>> Session::BeginTransfer(
    uint64_t generation) {
  absl::MutexLock lock(&mutex_);
  const auto it = planned_.find(generation);
  if (it == planned_.end()) return NotPlanned(generation);
  if (it->second.in_transfer) {
    return absl::FailedPreconditionError(absl::StrCat(
        "another thread is in dt_transfer of generation ", generation));
  }
  it->second.in_transfer = true;
  return it->second.transition;
}

void Session::EndTransfer(uint64_t generation) {
  {
    absl::MutexLock lock(&mutex_);
    Planned& planned = planned_.at(generation);
    planned.in_transfer = false;
    if (!planned.drop_after_transfer) return;
  }
  Drop(generation);
}

absl::StatusOr<TransferOutcome> Session::Transfer(uint64_t generation) {
  ASSIGN_OR_RETURN(const auto transition, BeginTransfer(generation));
  TransferCall call(*transition, orders_,
                    [this](json fields) { return Send(std::move(fields)); });
  absl::StatusOr<TransferOutcome> outcome = call.Run();
  EndTransfer(generation);
  return outcome;
}

void Session::Drop(uint64_t generation) {
  Planned dropped;  // destroyed, with its links, after the lock is let go
  {
    absl::MutexLock lock(&mutex_);
    const auto it = planned_.find(generation);
    if (it != planned_.end()) {
      if (it->second.in_transfer) {
        it->second.drop_after_transfer = true;
        return;
      }
      dropped = std::move(it->second);
      planned_.erase(it);
    }
  }
  orders_.Drop(generation);
  transport_->Forget(generation);
}

}  // namespace dynatrain::runtime
