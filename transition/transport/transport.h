// Transport: how this process gets links to the peers it has routes with. The
// engine sees only links; shared memory and TCP are here (HostTransport), NCCL
// would be a second implementation with a link over device memory.
//
// All links of a transition are made in one call, before training pauses, and
// live until it is over.
#ifndef TRANSITION_TRANSPORT_TRANSPORT_H_
#define TRANSITION_TRANSPORT_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "base/fingerprint.h"
#include "transition/transport/cancellation.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

struct TransportPeer {
  uint64_t process_id = 0;
  std::string data_address;  // "ip:port"
  bool same_member = false;  // in this process's pod
  std::string name;          // "rank 3 (serial 1)"
};

// Links by process id.
using Links = std::map<uint64_t, std::unique_ptr<Link>>;

// Memory for staging. It bounds what a transition needs beyond the two worlds.
struct StagingBudget {
  // Per link and direction; more doesn't make it faster (PERFORMANCE §1.2).
  size_t per_direction_bytes = size_t{1} << 20;
  // Of all links together; with many peers each gets less.
  size_t total_bytes = size_t{64} << 20;

  // What each direction of each of `num_links` links gets: a power of two.
  // Returns kResourceExhausted, with the number that would do, if that is below
  // kMinStagingBytes.
  absl::StatusOr<size_t> PerDirection(size_t num_links) const;
};
inline constexpr size_t kMinStagingBytes = size_t{16} << 10;

struct ConnectRequest {
  uint64_t generation = 0;
  Fingerprint attempt;  // equal on all who take part, see handshake.h
  std::vector<TransportPeer> peers;
  size_t staging_bytes_per_direction = 0;
};

class Transport {
 public:
  struct Capabilities {
    // Memory that links read and write in place.
    bool host_memory = false;
    bool device_memory = false;
  };

  virtual ~Transport() = default;

  virtual Capabilities capabilities() const = 0;
  // Where peers in other pods dial: goes into `hello`.
  virtual std::string address() const = 0;
  // Makes a link to each peer, or none. Both ends have to call it with the same
  // generation and attempt; it waits for those that haven't yet. Errors name
  // the peer.
  virtual absl::StatusOr<Links> Connect(const ConnectRequest& request,
                                        Deadline deadline,
                                        const Cancellation& cancel) = 0;
  // The transition is over or aborted: accepts no more links for it.
  virtual void Forget(uint64_t generation) = 0;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_TRANSPORT_H_
