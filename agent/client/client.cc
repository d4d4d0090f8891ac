#include "agent/client/client.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>

#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "agent/client/codec.h"
#include "api/rpc/agent.grpc.pb.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;

// A manifest travels in Prepare and GetManifest.
constexpr int kMaxMessageBytes = 64 << 20;

// gRPC's name for an IP address: resolves nothing, so it needs no DNS.
absl::StatusOr<std::string> Target(const std::string& address) {
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon != std::string::npos &&
      absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 &&
      port < 65536) {
    std::string ip = address.substr(0, colon);
    unsigned char parsed[16];
    if (inet_pton(AF_INET, ip.c_str(), parsed) == 1) {
      return absl::StrCat("ipv4:", address);
    }
    if (ip.size() > 2 && ip.front() == '[' && ip.back() == ']' &&
        inet_pton(AF_INET6, ip.substr(1, ip.size() - 2).c_str(), parsed) == 1) {
      return absl::StrCat("ipv6:", address);
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "agent address '", address, "' is not ip:port, want e.g. 10.0.0.7:7070"));
}

class GrpcAgent final : public AgentApi {
 public:
  GrpcAgent(const std::string& address, const std::string& target,
            std::string key)
      : address_(address),
        key_(std::move(key)),
        stub_(rpc::Agent::NewStub(NewChannel(target))) {}

  ~GrpcAgent() override { CancelCalls(); }

  absl::StatusOr<Observation> Observe(uint64_t known_version, milliseconds wait,
                                      Deadline deadline) override {
    rpc::ObserveRequest request;
    request.set_known_version(known_version);
    request.set_wait_ms(wait.count());
    rpc::Observation reply;
    absl::Status status =
        Call("Observe", &rpc::Agent::Stub::Observe, request, reply, deadline);
    if (!status.ok()) return status;
    return FromProto(reply);
  }

  absl::Status Greet(const Fence& fence, Deadline deadline) override {
    rpc::GreetRequest request;
    *request.mutable_fence() = ToProto(fence);
    return Command("Greet", &rpc::Agent::Stub::Greet, request, deadline);
  }

  absl::Status Prepare(const Fence& fence, const Transition& transition,
                       Deadline deadline) override {
    rpc::PrepareRequest request;
    *request.mutable_fence() = ToProto(fence);
    *request.mutable_transition() = ToProto(transition);
    return Command("Prepare", &rpc::Agent::Stub::Prepare, request, deadline);
  }

  absl::StatusOr<ArmReply> Arm(const Fence& fence, uint64_t step,
                               Deadline deadline) override {
    rpc::ArmRequest request;
    *request.mutable_fence() = ToProto(fence);
    request.set_step(step);
    rpc::ArmReply reply;
    absl::Status status =
        Call("Arm", &rpc::Agent::Stub::Arm, request, reply, deadline);
    if (!status.ok()) return status;
    return ArmReply{reply.refused(), reply.seen(), reply.reason()};
  }

  absl::Status Go(const Fence& fence, Deadline deadline) override {
    return Fenced("Go", &rpc::Agent::Stub::Go, fence, deadline);
  }

  absl::Status Cancel(const Fence& fence, Deadline deadline) override {
    return Fenced("Cancel", &rpc::Agent::Stub::Cancel, fence, deadline);
  }

  absl::Status Commit(const Fence& fence, Deadline deadline) override {
    return Fenced("Commit", &rpc::Agent::Stub::Commit, fence, deadline);
  }

  absl::Status Abort(const Fence& fence, const std::string& reason,
                     Deadline deadline) override {
    rpc::AbortRequest request;
    *request.mutable_fence() = ToProto(fence);
    request.set_reason(reason);
    return Command("Abort", &rpc::Agent::Stub::Abort, request, deadline);
  }

  absl::Status Dismiss(const Fence& fence, const std::string& reason,
                       Deadline deadline) override {
    rpc::DismissRequest request;
    *request.mutable_fence() = ToProto(fence);
    request.set_reason(reason);
    return Command("Dismiss", &rpc::Agent::Stub::Dismiss, request, deadline);
  }

  absl::StatusOr<Manifest> GetManifest(Deadline deadline) override {
    rpc::Manifest reply;
    absl::Status status = Call("GetManifest", &rpc::Agent::Stub::GetManifest,
                               rpc::GetManifestRequest(), reply, deadline);
    if (!status.ok()) return status;
    return Manifest{reply.generation(), reply.json(), reply.digest()};
  }

  absl::StatusOr<StoreReply> Store(const StoreRequest& request,
                                   Deadline deadline) override {
    rpc::StoreReply reply;
    absl::Status status = Call("Store", &rpc::Agent::Stub::Store,
                               ToProto(request), reply, deadline);
    if (!status.ok()) return status;
    return StoreReply{reply.ok(), reply.value(), reply.number(), reply.error()};
  }

  void CancelCalls() override ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    for (grpc::ClientContext* call : calls_) call->TryCancel();
  }

 private:
  template <typename Request, typename Reply>
  using Method = grpc::Status (rpc::Agent::Stub::*)(grpc::ClientContext*,
                                                    const Request&, Reply*);

  // Of its own, so that a client's back-off is not another's.
  static std::shared_ptr<grpc::Channel> NewChannel(const std::string& target) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    // A pod that starts answers soon: gRPC's default waits 1 s, then up to 120.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    // Despite its name, how long one attempt may take; an agent on a loaded
    // machine needs longer than the back-off.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
    return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  template <typename Request>
  absl::Status Command(absl::string_view name, Method<Request, rpc::Ack> method,
                       const Request& request, Deadline deadline) {
    rpc::Ack ack;
    return Call(name, method, request, ack, deadline);
  }

  absl::Status Fenced(absl::string_view name,
                      Method<rpc::CommandRequest, rpc::Ack> method,
                      const Fence& fence, Deadline deadline) {
    rpc::CommandRequest request;
    *request.mutable_fence() = ToProto(fence);
    return Command(name, method, request, deadline);
  }

  template <typename Request, typename Reply>
  absl::Status Call(absl::string_view name, Method<Request, Reply> method,
                    const Request& request, Reply& reply, Deadline deadline)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    grpc::ClientContext context;
    context.AddMetadata(kKeyMetadata, key_);
    if (!deadline.never()) {
      context.set_deadline(std::chrono::system_clock::now() +
                           (deadline.when() - Deadline::Clock::now()));
    }
    if (!Begin(&context)) {
      return absl::CancelledError(absl::StrCat(name, ": calls are cancelled"));
    }
    const grpc::Status status =
        (stub_.get()->*method)(&context, request, &reply);
    End(&context);
    if (status.ok()) return absl::OkStatus();
    return absl::Status(
        static_cast<absl::StatusCode>(status.error_code()),
        absl::StrCat(name, " at ", address_, ": ", status.error_message()));
  }

  bool Begin(grpc::ClientContext* call) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (!cancelled_) calls_.insert(call);
    return !cancelled_;
  }

  void End(grpc::ClientContext* call) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    calls_.erase(call);
  }

  const std::string address_;
  const std::string key_;
  const std::unique_ptr<rpc::Agent::Stub> stub_;
  absl::Mutex mutex_;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AgentApi>> NewAgentClient(
    const std::string& address, const std::string& key) {
  absl::StatusOr<std::string> target = Target(address);
  if (!target.ok()) return target.status();
  return std::make_unique<GrpcAgent>(address, *target, key);
}

}  // namespace dynatrain::agent
