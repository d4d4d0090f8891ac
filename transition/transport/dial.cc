#include "transition/transport/dial.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "transition/transport/shm_link.h"
#include "transition/transport/socket.h"
#include "transition/transport/tcp_link.h"

namespace dynatrain::transition {
namespace {

// One handshake in progress.
class Dialing {
 public:
  Dialing(const DialOptions& options, UniqueFd socket, Deadline deadline,
          const Cancellation& cancel)
      : options_(options),
        socket_(std::move(socket)),
        deadline_(deadline),
        cancel_(cancel) {}

  absl::Status ShakeHands() {
    RETURN_IF_ERROR(Send(EncodeHello(options_.hello)));
    ASSIGN_OR_RETURN(const std::string challenge, ReceiveReply());
    if (challenge.size() != kChallengeBytes) {
      return absl::InvalidArgumentError("malformed challenge");
    }
    Nonce nonce;
    Sha256Digest proof;
    memcpy(nonce.data(), challenge.data(), nonce.size());
    memcpy(proof.data(), challenge.data() + nonce.size(), proof.size());
    if (!EqualInConstantTime(proof, Proof(options_.key, Role::kListener,
                                          options_.hello, nonce))) {
      return absl::PermissionDeniedError(
          "the listener doesn't have this job's key");
    }
    const Sha256Digest ours =
        Proof(options_.key, Role::kDialer, options_.hello, nonce);
    RETURN_IF_ERROR(Send(absl::string_view(
        reinterpret_cast<const char*>(ours.data()), ours.size())));
    return ReceiveReply().status();
  }

  absl::StatusOr<std::unique_ptr<Link>> TakeLink() {
    const size_t staging_bytes = options_.hello.staging_bytes;
    if (!options_.local) {
      return TcpLink::Create(std::move(socket_), staging_bytes, options_.peer);
    }
    if (descriptors_.size() != 3) {
      return absl::InvalidArgumentError(absl::StrCat(
          "3 descriptors were expected, ", descriptors_.size(), " came"));
    }
    ShmResources resources;
    resources.memory = std::move(descriptors_[0]);
    resources.bells[0] = std::move(descriptors_[1]);
    resources.bells[1] = std::move(descriptors_[2]);
    return ShmLink::Create(std::move(resources), ShmLink::Side::kOther,
                           std::move(socket_), staging_bytes, options_.peer);
  }

 private:
  absl::Status Send(absl::string_view bytes) {
    return SendAll(socket_.get(), bytes, deadline_, cancel_, "handshake");
  }

  absl::StatusOr<std::string> Receive(size_t size) {
    return ReceiveAll(socket_.get(), size, deadline_, cancel_, "handshake",
                      &descriptors_);
  }

  absl::StatusOr<std::string> ReceiveReply() {
    ASSIGN_OR_RETURN(const std::string header, Receive(kReplyHeaderBytes));
    ASSIGN_OR_RETURN(const ReplyHeader reply, DecodeReplyHeader(header));
    std::string payload;
    if (reply.payload_bytes > 0) {
      ASSIGN_OR_RETURN(payload, Receive(reply.payload_bytes));
    }
    if (reply.code == absl::StatusCode::kOk) return payload;
    return absl::Status(reply.code, absl::StrCat("it refused: ", payload));
  }

  const DialOptions& options_;
  UniqueFd socket_;
  const Deadline deadline_;
  const Cancellation& cancel_;
  std::vector<UniqueFd> descriptors_;
};

absl::StatusOr<std::unique_ptr<Link>> DialUnnamed(DialOptions& options,
                                                  Deadline deadline,
                                                  const Cancellation& cancel) {
  options.hello.nonce = MakeNonce();
  SocketAddress address = SocketAddress::LocalOf(options.hello.listener);
  if (!options.local) {
    ASSIGN_OR_RETURN(address, SocketAddress::Parse(options.address));
  }
  ASSIGN_OR_RETURN(UniqueFd socket, Connect(address, deadline, cancel));
  Dialing dialing(options, std::move(socket), deadline, cancel);
  RETURN_IF_ERROR(dialing.ShakeHands());
  return dialing.TakeLink();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Link>> Dial(DialOptions options,
                                           Deadline deadline,
                                           const Cancellation& cancel) {
  absl::StatusOr<std::unique_ptr<Link>> link =
      DialUnnamed(options, deadline, cancel);
  if (link.ok()) return link;
  return WithContext(link.status(),
                     absl::StrCat("making a link to ", options.peer,
                                  options.local ? " (shared memory)" : ""));
}

}  // namespace dynatrain::transition
