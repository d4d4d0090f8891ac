#include "transition/transport/greeting.h"

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/transport/shm_link.h"
#include "transition/transport/socket.h"
#include "transition/transport/tcp_link.h"

namespace dynatrain::transition {

Greeting::Greeting(UniqueFd socket, bool local, uint64_t process_id,
                   std::string key, Deadline deadline)
    : socket_(std::move(socket)),
      local_(local),
      process_id_(process_id),
      key_(std::move(key)),
      deadline_(deadline) {}

absl::StatusOr<bool> Greeting::Receive(size_t size) {
  while (received_.size() < size) {
    char bytes[256];
    const ssize_t n =
        recv(socket_.get(), bytes,
             std::min(sizeof(bytes), size - received_.size()), MSG_DONTWAIT);
    if (n > 0) {
      received_.append(bytes, n);
    } else if (n < 0 && errno == EAGAIN) {
      return false;
    } else if (n == 0 || errno != EINTR) {
      return absl::UnavailableError("the dialer is gone");
    }
  }
  return true;
}

absl::Status Greeting::TakeHello() {
  ASSIGN_OR_RETURN(hello_, DecodeHello(received_));
  if (hello_.listener != process_id_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this is process ", absl::Hex(process_id_), ", not process ",
        absl::Hex(hello_.listener), " that was dialed"));
  }
  received_.clear();
  nonce_ = MakeNonce();
  const Sha256Digest proof = Proof(key_, Role::kListener, hello_, nonce_);
  std::string challenge(nonce_.begin(), nonce_.end());
  challenge.append(proof.begin(), proof.end());
  state_ = State::kProof;
  return SendWithDescriptors(socket_.get(),
                             EncodeReply(absl::OkStatus(), challenge), {});
}

absl::Status Greeting::TakeProof() {
  Sha256Digest proof;
  memcpy(proof.data(), received_.data(), proof.size());
  if (!EqualInConstantTime(proof, Proof(key_, Role::kDialer, hello_, nonce_))) {
    return absl::PermissionDeniedError(
        "the dialer doesn't have this job's key");
  }
  received_.clear();
  state_ = State::kProved;
  return absl::OkStatus();
}

absl::Status Greeting::Advance(Deadline park) {
  if (state_ == State::kHello) {
    ASSIGN_OR_RETURN(const bool whole, Receive(kHelloBytes));
    if (!whole) return absl::OkStatus();
    RETURN_IF_ERROR(TakeHello());
  }
  if (state_ == State::kProof) {
    ASSIGN_OR_RETURN(const bool whole, Receive(sizeof(Sha256Digest)));
    if (!whole) return absl::OkStatus();
    RETURN_IF_ERROR(TakeProof());
    deadline_ = park;
  }
  // It has nothing more to say: all that can come is its end.
  ASSIGN_OR_RETURN(const bool more, Receive(1));
  if (more) return absl::InvalidArgumentError("unexpected bytes");
  return absl::OkStatus();
}

void Greeting::Refuse(const absl::Status& why) {
  SendWithDescriptors(socket_.get(), EncodeReply(why), {}).IgnoreError();
}

absl::StatusOr<std::unique_ptr<Link>> Greeting::Welcome(
    size_t staging_bytes, const std::string& peer) {
  const std::string welcome = EncodeReply(absl::OkStatus());
  staging_bytes = std::min<size_t>(staging_bytes, hello_.staging_bytes);
  if (!local_) {
    RETURN_IF_ERROR(SendWithDescriptors(socket_.get(), welcome, {}));
    return TcpLink::Create(std::move(socket_), staging_bytes, peer);
  }
  const size_t ring_bytes = std::bit_floor(staging_bytes);
  ASSIGN_OR_RETURN(ShmResources resources, MakeShmResources(ring_bytes));
  RETURN_IF_ERROR(
      SendWithDescriptors(socket_.get(), welcome,
                          {resources.memory.get(), resources.bells[0].get(),
                           resources.bells[1].get()}));
  return ShmLink::Create(std::move(resources), ShmLink::Side::kMaker,
                         std::move(socket_), ring_bytes, peer);
}

}  // namespace dynatrain::transition
