// Shared memory to processes of the same pod, TCP to all others.
#ifndef TRANSITION_TRANSPORT_HOST_TRANSPORT_H_
#define TRANSITION_TRANSPORT_HOST_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "transition/transport/listener.h"
#include "transition/transport/transport.h"

namespace dynatrain::transition {

// Thread-safe.
class HostTransport : public Transport {
 public:
  // Begins to listen.
  static absl::StatusOr<std::unique_ptr<HostTransport>> Create(
      LinkListener::Options options);

  Capabilities capabilities() const override { return {.host_memory = true}; }
  std::string address() const override { return listener_->address(); }
  // Of two processes the one with the lower id dials.
  absl::StatusOr<Links> Connect(const ConnectRequest& request,
                                Deadline deadline,
                                const Cancellation& cancel) override;
  void Forget(uint64_t generation) override { listener_->Forget(generation); }

 private:
  HostTransport(uint64_t process_id, std::string key,
                std::unique_ptr<LinkListener> listener);
  absl::StatusOr<std::unique_ptr<Link>> ConnectTo(const TransportPeer& peer,
                                                  const ConnectRequest& request,
                                                  Deadline deadline,
                                                  const Cancellation& cancel);

  const uint64_t process_id_;
  const std::string key_;
  const std::unique_ptr<LinkListener> listener_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_HOST_TRANSPORT_H_
