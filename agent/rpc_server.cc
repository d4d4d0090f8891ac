#include "agent/rpc_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/client/codec.h"
#include "api/rpc/agent.grpc.pb.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;

// As in the client: a manifest, a store value.
constexpr int kMaxMessageBytes = 64 << 20;

constexpr milliseconds kLastReplies{500};

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

class Service final : public rpc::Agent::Service {
 public:
  Service(std::string key, AgentState* state, StoreRouter* router)
      : key_(std::move(key)), state_(state), router_(router) {}

  grpc::Status Observe(grpc::ServerContext* context,
                       const rpc::ObserveRequest* request,
                       rpc::Observation* reply) override {
    return Keyed(context, [&] {
      *reply = ToProto(state_->Observe(request->known_version(),
                                       milliseconds(request->wait_ms())));
      return absl::OkStatus();
    });
  }

  grpc::Status Greet(grpc::ServerContext* context,
                     const rpc::GreetRequest* request, rpc::Ack*) override {
    return Keyed(context,
                 [&] { return state_->Greet(FromProto(request->fence())); });
  }

  grpc::Status Prepare(grpc::ServerContext* context,
                       const rpc::PrepareRequest* request, rpc::Ack*) override {
    return Keyed(context, [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const Transition transition,
                       FromProto(request->transition()));
      return state_->Prepare(FromProto(request->fence()), transition);
    });
  }

  grpc::Status Arm(grpc::ServerContext* context, const rpc::ArmRequest* request,
                   rpc::ArmReply* reply) override {
    return Keyed(context, [&]() -> absl::Status {
      ASSIGN_OR_RETURN(
          const ArmReply outcome,
          state_->Arm(FromProto(request->fence()), request->step()));
      reply->set_refused(outcome.refused);
      reply->set_seen(outcome.seen);
      reply->set_reason(outcome.reason);
      return absl::OkStatus();
    });
  }

  grpc::Status Go(grpc::ServerContext* context,
                  const rpc::CommandRequest* request, rpc::Ack*) override {
    return Keyed(context,
                 [&] { return state_->Go(FromProto(request->fence())); });
  }

  grpc::Status Cancel(grpc::ServerContext* context,
                      const rpc::CommandRequest* request, rpc::Ack*) override {
    return Keyed(context,
                 [&] { return state_->Cancel(FromProto(request->fence())); });
  }

  grpc::Status Abort(grpc::ServerContext* context,
                     const rpc::AbortRequest* request, rpc::Ack*) override {
    return Keyed(context, [&] {
      return state_->Abort(FromProto(request->fence()), request->reason());
    });
  }

  grpc::Status Commit(grpc::ServerContext* context,
                      const rpc::CommandRequest* request, rpc::Ack*) override {
    return Keyed(context,
                 [&] { return state_->Commit(FromProto(request->fence())); });
  }

  grpc::Status Dismiss(grpc::ServerContext* context,
                       const rpc::DismissRequest* request, rpc::Ack*) override {
    return Keyed(context, [&] {
      return state_->Dismiss(FromProto(request->fence()), request->reason());
    });
  }

  grpc::Status GetManifest(grpc::ServerContext* context,
                           const rpc::GetManifestRequest*,
                           rpc::Manifest* reply) override {
    return Keyed(context, [&] {
      const Manifest manifest = state_->CommittedManifest();
      if (manifest.generation == 0) {
        return absl::FailedPreconditionError("no generation is committed yet");
      }
      reply->set_generation(manifest.generation);
      reply->set_json(manifest.json);
      reply->set_digest(manifest.digest);
      return absl::OkStatus();
    });
  }

  grpc::Status Store(grpc::ServerContext* context,
                     const rpc::StoreRequest* request,
                     rpc::StoreReply* reply) override {
    return Keyed(context, [&] {
      StoreReply outcome = router_->FromAgent(FromProto(*request));
      reply->set_ok(outcome.ok);
      reply->set_value(std::move(outcome.value));
      reply->set_number(outcome.number);
      reply->set_error(std::move(outcome.error));
      return absl::OkStatus();
    });
  }

 private:
  // All calls come through here: without the job's key nothing is looked at.
  template <typename Call>
  grpc::Status Keyed(grpc::ServerContext* context, Call call) {
    const auto& metadata = context->client_metadata();
    const auto shown = metadata.find(kKeyMetadata);
    if (shown == metadata.end() ||
        !EqualInConstantTime(
            std::string(shown->second.data(), shown->second.size()), key_)) {
      return grpc::Status(
          grpc::StatusCode::UNAUTHENTICATED,
          absl::StrCat(
              "the metadata entry '", kKeyMetadata, "' is ",
              shown == metadata.end() ? "absent" : "not this job's key"));
    }
    return ToGrpc(call());
  }

  const std::string key_;
  AgentState* const state_;
  StoreRouter* const router_;
};

class GrpcServer final : public RpcServer {
 public:
  GrpcServer(const std::string& key, AgentState* state, StoreRouter* router)
      : service_(key, state, router) {}
  ~GrpcServer() override { Stop(); }

  absl::Status Listen(int port) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    // Two agents on one port would each get some of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(absl::StrCat("0.0.0.0:", port),
                             grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr && port_ != 0) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("can't serve gRPC on port ", port, ": is it taken?"));
  }

  int port() const override { return port_; }

  void Stop() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kLastReplies);
    server_->Wait();
    server_.reset();
  }

 private:
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

bool EqualInConstantTime(const std::string& a, const std::string& b) {
  const size_t size = std::max(a.size(), b.size());
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < size; ++i) {
    difference |= (i < a.size() ? a[i] : 0) ^ (i < b.size() ? b[i] : 0);
  }
  return difference == 0;
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    int port, const std::string& key, AgentState* state, StoreRouter* router) {
  auto server = std::make_unique<GrpcServer>(key, state, router);
  RETURN_IF_ERROR(server->Listen(port));
  return server;
}

}  // namespace dynatrain::agent
