#include "tests/kube/fake_agent.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/client/codec.h"
#include "api/manifest/json_codec.h"
#include "api/rpc/agent.grpc.pb.h"
#include "base/fingerprint.h"
#include "operator/kube/json.h"
#include "operator/kube/stop_sleep.h"

namespace dynatrain::control {
namespace {

using transition::Fence;
using transition::Participant;
using transition::Phase;
using transition::RankOrder;

constexpr int kExitLeft = 86;
constexpr int kExitDismissed = 87;
constexpr int kExitKilled = 137;
constexpr absl::Duration kTick = absl::Milliseconds(2);
// Divisible enough for any layout of a test.
constexpr char kManifest[] =
    R"({"version":1,"tensors":[{"name":"w","state":"param","dtype":"float32",)"
    R"("shape":[16,16],"splits":[{"axis":"tp","dim":0},)"
    R"({"axis":"dp","dim":0}]}]})";

const std::string& ManifestDigest() {
  static const auto* const kDigest =
      new std::string(api::DecodeManifest(kManifest).value().digest().Hex());
  return *kDigest;
}

// Both sides of every rank of a transition say the same.
std::string PlanDigest(const agent::Transition& transition) {
  std::string text =
      absl::StrCat(transition.id, transition.generation,
                   transition.source.layout, "/", transition.target.layout);
  for (const agent::World* world : {&transition.source, &transition.target}) {
    for (const agent::Member& member : world->members) {
      for (const agent::RankEndpoint& rank : member.ranks) {
        absl::StrAppend(&text, ",", rank.process_id);
      }
    }
  }
  return FingerprintOf(text).Hex();
}

bool IsIn(const agent::World& world, uint32_t serial) {
  return std::any_of(
      world.members.begin(), world.members.end(),
      [&](const agent::Member& member) { return member.serial == serial; });
}

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

Participant::Time ProtocolNow() { return std::chrono::steady_clock::now(); }

}  // namespace

void FakeCheckpoints::Put(const std::string& job_uid, uint64_t generation,
                          uint64_t step) {
  absl::MutexLock lock(&mutex_);
  steps_[{job_uid, generation}] = step;
}

uint64_t FakeCheckpoints::Get(const std::string& job_uid,
                              uint64_t generation) const {
  absl::MutexLock lock(&mutex_);
  const auto it = steps_.find({job_uid, generation});
  return it == steps_.end() ? 0 : it->second;
}

class FakeAgent::Service final : public rpc::Agent::Service {
 public:
  explicit Service(FakeAgent* agent) : agent_(agent) {}

  grpc::Status Observe(grpc::ServerContext* context,
                       const rpc::ObserveRequest* request,
                       rpc::Observation* reply) override {
    return Keyed(context, [&] {
      absl::MutexLock lock(&agent_->mutex_);
      const auto news = [&]() ABSL_SHARED_LOCKS_REQUIRED(agent_->mutex_) {
        return agent_->version_ != request->known_version() ||
               agent_->exit_code_.has_value();
      };
      agent_->mutex_.AwaitWithTimeout(absl::Condition(&news),
                                      absl::Milliseconds(request->wait_ms()));
      if (agent_->exit_code_.has_value()) {
        return absl::UnavailableError("the process has ended");
      }
      *reply = agent::ToProto(agent_->Look());
      return absl::OkStatus();
    });
  }
  grpc::Status Greet(grpc::ServerContext* context,
                     const rpc::GreetRequest* request, rpc::Ack*) override {
    return Command(context, "Greet", *request,
                   [](Participant& p, const Fence& f) { return p.Greet(f); });
  }
  grpc::Status Prepare(grpc::ServerContext* context,
                       const rpc::PrepareRequest* request, rpc::Ack*) override {
    return Keyed(context, [&]() -> absl::Status {
      const auto transition = agent::FromProto(request->transition());
      if (!transition.ok()) return transition.status();
      return agent_->Prepare(agent::FromProto(request->fence()), *transition);
    });
  }
  grpc::Status Arm(grpc::ServerContext* context, const rpc::ArmRequest* request,
                   rpc::ArmReply* reply) override {
    const grpc::Status status =
        Command(context, "Arm", *request, [&](Participant& p, const Fence& f) {
          return p.Arm(f, request->step());
        });
    if (!status.ok()) return status;
    absl::MutexLock lock(&agent_->mutex_);
    agent_->Tick(absl::Now());
    const bool refused =
        agent_->participant_.arm() == Participant::ArmState::kRefused;
    reply->set_refused(refused);
    reply->set_seen(agent_->step_);
    reply->set_reason(agent_->participant_.arm_refusal());
    return status;
  }
  grpc::Status Go(grpc::ServerContext* context,
                  const rpc::CommandRequest* request, rpc::Ack*) override {
    return Command(context, "Go", *request, [](Participant& p, const Fence& f) {
      return p.Go(f, ProtocolNow());
    });
  }
  grpc::Status Cancel(grpc::ServerContext* context,
                      const rpc::CommandRequest* request, rpc::Ack*) override {
    return Command(context, "Cancel", *request,
                   [](Participant& p, const Fence& f) { return p.Cancel(f); });
  }
  grpc::Status Abort(grpc::ServerContext* context,
                     const rpc::AbortRequest* request, rpc::Ack*) override {
    return Command(context, "Abort", *request,
                   [&](Participant& p, const Fence& f) {
                     return p.Abort(f, request->reason());
                   });
  }
  grpc::Status Commit(grpc::ServerContext* context,
                      const rpc::CommandRequest* request, rpc::Ack*) override {
    return Command(context, "Commit", *request,
                   [](Participant& p, const Fence& f) { return p.Commit(f); });
  }
  grpc::Status Dismiss(grpc::ServerContext* context,
                       const rpc::DismissRequest* request, rpc::Ack*) override {
    return Command(context, "Dismiss", *request,
                   [&](Participant& p, const Fence& f)
                       ABSL_NO_THREAD_SAFETY_ANALYSIS {
                         const absl::Status status = p.Greet(f);
                         if (status.ok()) agent_->exit_code_ = kExitDismissed;
                         return status;
                       });
  }
  grpc::Status GetManifest(grpc::ServerContext* context,
                           const rpc::GetManifestRequest*,
                           rpc::Manifest* reply) override {
    return Keyed(context, [&] {
      absl::MutexLock lock(&agent_->mutex_);
      reply->set_generation(agent_->generation_);
      reply->set_json(kManifest);
      reply->set_digest(ManifestDigest());
      return absl::OkStatus();
    });
  }

 private:
  template <typename Call>
  grpc::Status Keyed(grpc::ServerContext* context, Call call) {
    const auto& metadata = context->client_metadata();
    const auto shown = metadata.find(agent::kKeyMetadata);
    if (shown == metadata.end() ||
        std::string(shown->second.data(), shown->second.size()) !=
            agent_->options_.key) {
      return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "not the job key");
    }
    return ToGrpc(call());
  }
  template <typename Request, typename Do>
  grpc::Status Command(grpc::ServerContext* context, const char* name,
                       const Request& request, Do command) {
    return Keyed(context, [&] {
      const Fence fence = agent::FromProto(request.fence());
      return agent_->Obey(name, fence, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return command(agent_->participant_, fence);
      });
    });
  }

  FakeAgent* const agent_;
};

class FakeAgent::Server {
 public:
  Server(const std::string& address, Service* service) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(service);
    server_ = builder.BuildAndStart();
  }
  ~Server() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  bool listening() const { return server_ != nullptr && port_ != 0; }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

FakeAgent::FakeAgent(FakeAgentOptions options, FakeCheckpoints* checkpoints,
                     Log log)
    : options_(std::move(options)),
      checkpoints_(checkpoints),
      log_(std::move(log)),
      participant_(options_.ranks) {}

absl::StatusOr<std::unique_ptr<FakeAgent>> FakeAgent::Start(
    FakeAgentOptions options, FakeCheckpoints* checkpoints, Log log) {
  const std::string address = absl::StrCat(options.ip, ":", options.port);
  std::unique_ptr<FakeAgent> agent(
      new FakeAgent(std::move(options), checkpoints, std::move(log)));
  agent->service_ = std::make_unique<Service>(agent.get());
  agent->server_ = std::make_unique<Server>(address, agent->service_.get());
  if (!agent->server_->listening()) {
    return absl::UnavailableError(absl::StrCat("can't listen on ", address));
  }
  agent->thread_ = std::jthread(
      [raw = agent.get()](std::stop_token stop) { raw->Loop(stop); });
  return agent;
}

FakeAgent::~FakeAgent() {
  {
    absl::MutexLock lock(&mutex_);
    if (!exit_code_.has_value()) exit_code_ = kExitKilled;
  }
  server_.reset();
}

void FakeAgent::Leave(absl::Duration grace) {
  absl::MutexLock lock(&mutex_);
  if (!killed_at_.has_value()) killed_at_ = absl::Now() + grace;
  ++version_;
}

void FakeAgent::Hang(bool hangs) {
  absl::MutexLock lock(&mutex_);
  hangs_ = hangs;
}

void FakeAgent::Refuse(bool refuses) {
  absl::MutexLock lock(&mutex_);
  refuses_ = refuses;
}

void FakeAgent::Finish() {
  absl::MutexLock lock(&mutex_);
  finished_ = true;
}

std::optional<int> FakeAgent::exit_code() const {
  absl::MutexLock lock(&mutex_);
  return exit_code_;
}

void FakeAgent::Loop(std::stop_token stop) {
  while (SleepUnlessStopped(kTick, stop)) {
    absl::MutexLock lock(&mutex_);
    if (exit_code_.has_value()) return;
    Tick(absl::Now());
  }
}

// Called with the lock held, which the analysis doesn't see inside a lambda.
template <typename Report>
void FakeAgent::ForRanks(Report report) {
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const absl::Status status = report(rank);
    if (!status.ok()) {
      log_(Json({{"serial", options_.serial},
                 {"wrong", std::string(status.message())}})
               .dump());
    }
  }
  ++version_;
}

void FakeAgent::Follow(const RankOrder& order, absl::Time now) {
  using Kind = RankOrder::Kind;
  switch (order.kind) {
    case Kind::kPrepare:
      prepared_at_ = now + options_.prepare;
      break;
    case Kind::kArm: {
      const bool late = finished_ || refuses_ || step_ >= order.step;
      if (!late) armed_step_ = order.step;
      ForRanks([&](int rank) ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return participant_.RankArmed(rank, order.generation, order.step, !late,
                                      step_);
      });
      break;
    }
    case Kind::kGo:
      if (!participant_.terms().in_source) {
        verified_at_ = now + options_.transfer;
      }
      break;
    case Kind::kCancel:
    case Kind::kAbort:
      prepared_at_ = verified_at_ = absl::InfiniteFuture();
      armed_step_ = 0;
      if (std::exchange(stopped_, false)) next_step_ = now + options_.step;
      break;
    case Kind::kCommit:
      Enter();
      break;
  }
}

void FakeAgent::Enter() {
  const uint64_t generation = participant_.generation();
  const bool in_target = participant_.terms().in_target;
  ForRanks([&](int rank) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return participant_.RankReleased(rank, generation);
  });
  armed_step_ = 0;
  stopped_ = false;
  prepared_at_ = verified_at_ = absl::InfiniteFuture();
  if (!in_target) {
    exit_code_ = kExitLeft;
    return;
  }
  generation_ = generation;
  step_ = std::max(step_, checkpoints_->Get(options_.job_uid, generation));
  next_step_ = absl::Now() + options_.step;
}

void FakeAgent::Step(absl::Time now) {
  if (generation_ == 0 || stopped_ || hangs_ || now < next_step_) return;
  ++step_;
  ++version_;
  next_step_ += options_.step;
  if (armed_step_ == 0 || step_ < armed_step_) return;
  stopped_ = true;
  // Now, not at commit: a joiner may hear of that before any source does, and
  // would begin at step 0.
  checkpoints_->Put(options_.job_uid, participant_.generation(), step_);
  ForRanks([&](int rank) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return participant_.RankStopped(rank, participant_.generation(), step_,
                                    ProtocolNow());
  });
}

void FakeAgent::Tick(absl::Time now) {
  if (exit_code_.has_value()) return;
  for (const RankOrder& order : participant_.TakeOrders()) Follow(order, now);
  participant_.Tick(ProtocolNow());
  Step(now);
  if (now >= prepared_at_) {
    prepared_at_ = absl::InfiniteFuture();
    ForRanks([&](int rank) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return participant_.RankPrepared(rank, participant_.generation(),
                                       plan_digest_);
    });
  }
  if (participant_.phase() == Phase::kTransferring) {
    if (stopped_ && verified_at_ == absl::InfiniteFuture()) {
      verified_at_ = now + options_.transfer;
    }
    if (now >= verified_at_) {
      verified_at_ = absl::InfiniteFuture();
      ForRanks([&](int rank) ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return participant_.RankVerified(rank, participant_.generation());
      });
      in_doubt_since_ = now;
    }
  }
  if (finished_ && !transition::IsOver(participant_.phase())) return;
  if (finished_ && generation_ != 0) exit_code_ = 0;
  if (killed_at_.has_value() && now >= *killed_at_) exit_code_ = kExitKilled;
}

template <typename Command>
absl::Status FakeAgent::Obey(const char* name, const Fence& fence,
                             Command command) {
  absl::MutexLock lock(&mutex_);
  if (exit_code_.has_value()) {
    return absl::UnavailableError("the process has ended");
  }
  const Phase before = participant_.phase();
  const absl::Status status = command();
  ++version_;
  Json line = {{"serial", options_.serial},
               {"command", name},
               {"term", fence.term},
               {"generation", fence.generation},
               {"phase", std::string(transition::PhaseName(before))},
               {"outcome", status.ok() ? "OK" : std::string(status.message())}};
  if (before == Phase::kVerified) {
    line["in_doubt_ms"] =
        absl::ToDoubleMilliseconds(absl::Now() - in_doubt_since_);
  }
  log_(line.dump());
  return status;
}

absl::Status FakeAgent::Prepare(const Fence& fence,
                                const agent::Transition& transition) {
  return Obey("Prepare", fence, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const transition::TransitionTerms terms = {
        .id = transition.id,
        .generation = transition.generation,
        .source_generation = transition.source.generation,
        .in_source = IsIn(transition.source, options_.serial),
        .in_target = IsIn(transition.target, options_.serial),
        .prepare_deadline = transition.prepare_deadline,
        .transfer_deadline = transition.transfer_deadline};
    const absl::Status status =
        participant_.Prepare(fence, terms, ProtocolNow());
    if (status.ok()) {
      transition_ = transition;
      plan_digest_ = PlanDigest(transition);
    }
    return status;
  });
}

agent::Observation FakeAgent::Look() const {
  agent::Observation look;
  look.version = version_;
  look.term = participant_.term();
  look.job_uid = options_.job_uid;
  look.serial = options_.serial;
  look.agent_version = "fake";
  look.committed_generation = participant_.committed_generation();
  if (look.committed_generation > 0) look.manifest_digest = ManifestDigest();
  look.leaving = killed_at_.has_value();
  if (look.leaving) {
    look.leave_deadline = absl::ToChronoMilliseconds(*killed_at_ - absl::Now());
  }
  look.transition.id = transition_.id;
  look.transition.generation = participant_.generation();
  look.transition.phase = participant_.phase();
  look.transition.armed_step = participant_.armed_step();
  look.transition.failure = participant_.failure();
  const Phase phase = participant_.phase();
  const bool prepared = phase >= Phase::kPrepared && phase <= Phase::kReleased;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    agent::RankObservation& seen = look.ranks.emplace_back();
    seen.local_rank = rank;
    seen.process_id = (uint64_t{options_.serial} + 1) << 16 | (rank + 1);
    seen.data_address = absl::StrCat(options_.ip, ":", 20000 + rank);
    seen.state = stopped_           ? agent::RankState::kStopped
                 : generation_ == 0 ? agent::RankState::kReady
                                    : agent::RankState::kTraining;
    seen.generation = generation_;
    seen.step = step_;
    seen.step_ms = absl::ToDoubleMilliseconds(options_.step);
    seen.loss = 1.0;
    agent::RankTransition& part = look.transition.ranks.emplace_back();
    part.local_rank = rank;
    part.prepared = prepared;
    if (prepared) {
      part.manifest_digest = ManifestDigest();
      part.plan_digest = plan_digest_;
      part.mode = "warm";
      part.sent_hash = part.received_hash = 7;
    }
    part.stopped = stopped_;
    part.stopped_step = stopped_ ? step_ : 0;
    part.verified = phase >= Phase::kVerified && phase <= Phase::kReleased;
    part.resumed = phase == Phase::kReleased;
    part.pause_ms = 12;
  }
  return look;
}

}  // namespace dynatrain::control
