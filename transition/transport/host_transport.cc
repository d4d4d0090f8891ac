#include "transition/transport/host_transport.h"

#include <utility>

#include "base/status_macros.h"
#include "transition/transport/dial.h"

namespace dynatrain::transition {

absl::StatusOr<std::unique_ptr<HostTransport>> HostTransport::Create(
    LinkListener::Options options) {
  const uint64_t process_id = options.process_id;
  const std::string key = options.key;
  ASSIGN_OR_RETURN(auto listener, LinkListener::Create(std::move(options)));
  return std::unique_ptr<HostTransport>(
      new HostTransport(process_id, key, std::move(listener)));
}

HostTransport::HostTransport(uint64_t process_id, std::string key,
                             std::unique_ptr<LinkListener> listener)
    : process_id_(process_id),
      key_(std::move(key)),
      listener_(std::move(listener)) {}

absl::StatusOr<Links> HostTransport::Connect(const ConnectRequest& request,
                                             Deadline deadline,
                                             const Cancellation& cancel) {
  // Before the first dial, so that no two processes wait for each other.
  LinkListener::ExpectedPeers expected;
  for (const TransportPeer& peer : request.peers) {
    if (peer.process_id < process_id_) {
      expected[peer.process_id] = {peer.name,
                                   request.staging_bytes_per_direction};
    }
  }
  RETURN_IF_ERROR(
      listener_->Expect(request.generation, request.attempt, expected));
  Links links;
  for (const TransportPeer& peer : request.peers) {
    ASSIGN_OR_RETURN(links[peer.process_id],
                     ConnectTo(peer, request, deadline, cancel));
  }
  return links;
}

absl::StatusOr<std::unique_ptr<Link>> HostTransport::ConnectTo(
    const TransportPeer& peer, const ConnectRequest& request, Deadline deadline,
    const Cancellation& cancel) {
  if (peer.process_id < process_id_) {
    return listener_->Take(request.generation, peer.process_id, deadline,
                           cancel);
  }
  DialOptions options;
  options.hello.dialer = process_id_;
  options.hello.listener = peer.process_id;
  options.hello.generation = request.generation;
  options.hello.attempt = request.attempt;
  options.hello.staging_bytes = request.staging_bytes_per_direction;
  options.key = key_;
  options.address = peer.data_address;
  options.local = peer.same_member;
  options.peer = peer.name;
  return Dial(std::move(options), deadline, cancel);
}

}  // namespace dynatrain::transition
