// A link through shared memory, for two processes of one pod: a sealed memfd
// with a ring each way, and an eventfd per side as its doorbell. The Unix
// socket over which they were passed stays open, so that the death of either
// process is seen at once.
#ifndef TRANSITION_TRANSPORT_SHM_LINK_H_
#define TRANSITION_TRANSPORT_SHM_LINK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "transition/transport/link.h"
#include "transition/transport/shm_ring.h"

namespace dynatrain::transition {

// What one side makes and sends to the other, by SCM_RIGHTS.
struct ShmResources {
  UniqueFd memory;    // memfd, sealed against shrinking and growing
  UniqueFd bells[2];  // eventfds: of the maker, of the other side
};

// `ring_bytes` for each way: a power of two, at least 4 KiB.
absl::StatusOr<ShmResources> MakeShmResources(size_t ring_bytes);

class ShmLink : public Link {
 public:
  enum class Side { kMaker = 0, kOther = 1 };

  // Maps the memory. Returns kInvalidArgument if it isn't sealed or its size
  // isn't that of two rings of a power of two up to `max_ring_bytes`: it came
  // from outside, and a peer that could shrink it could kill us with SIGBUS.
  static absl::StatusOr<std::unique_ptr<ShmLink>> Create(ShmResources resources,
                                                         Side side,
                                                         UniqueFd socket,
                                                         size_t max_ring_bytes,
                                                         std::string peer);
  ~ShmLink() override;

  absl::string_view transport() const override { return "shm"; }
  absl::StatusOr<absl::Span<std::byte>> Space() override;
  absl::Status Commit(size_t bytes) override;
  absl::StatusOr<size_t> Write(absl::Span<const std::byte> bytes) override;
  absl::StatusOr<bool> Flush() override { return true; }
  absl::StatusOr<absl::Span<const std::byte>> Available() override;
  void Consume(size_t bytes) override;
  absl::StatusOr<size_t> Read(absl::Span<std::byte> bytes) override;
  bool PrepareToWait(bool want_space, std::vector<pollfd>* fds) override;
  void FinishWaiting() override;
  size_t staging_bytes() const override { return 2 * ring_bytes_; }

 private:
  struct Shared;

  ShmLink(ShmResources resources, Side side, UniqueFd socket, Shared* shared,
          size_t ring_bytes, std::string peer);
  std::byte* RingBytes(Side writer) const;
  // Wakes the other side if it sleeps.
  void RingBell();

  const ShmResources resources_;
  const Side side_;
  const UniqueFd socket_;
  Shared* const shared_;
  const size_t ring_bytes_;
  ShmRingWriter writer_;
  ShmRingReader reader_;
  bool peer_gone_ = false;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_SHM_LINK_H_
