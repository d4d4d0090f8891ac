// A ring of bytes in memory that two processes share: one writes, one reads.
#ifndef TRANSITION_TRANSPORT_SHM_RING_H_
#define TRANSITION_TRANSPORT_SHM_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dynatrain::transition {

// In shared memory. The counters only grow; a cache line of its own for each,
// since the two processes write them at the same time. Accesses are
// sequentially consistent: who is about to sleep relies on it (shm_link.cc).
struct ShmRingControl {
  alignas(64) std::atomic<uint64_t> written;
  alignas(64) std::atomic<uint64_t> read;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The writer's end. Thread-compatible. `capacity` is a power of two; memory of
// both outlives this.
class ShmRingWriter {
 public:
  ShmRingWriter(ShmRingControl* control, std::byte* bytes, size_t capacity)
      : control_(control), bytes_(bytes), capacity_(capacity) {}

  // Free bytes, contiguous. Returns kDataLoss if the reader's counter is
  // impossible: the peer wrote where it may not.
  absl::StatusOr<absl::Span<std::byte>> Space() const;
  // REQUIRES: bytes <= Space().size().
  void Commit(size_t bytes);

 private:
  ShmRingControl* control_;
  std::byte* bytes_;
  size_t capacity_;
  uint64_t written_ = 0;  // as in shared memory, where only we write it
};

// The reader's end, likewise.
class ShmRingReader {
 public:
  ShmRingReader(ShmRingControl* control, const std::byte* bytes,
                size_t capacity)
      : control_(control), bytes_(bytes), capacity_(capacity) {}

  absl::StatusOr<absl::Span<const std::byte>> Available() const;
  // REQUIRES: bytes <= Available().size().
  void Consume(size_t bytes);

 private:
  ShmRingControl* control_;
  const std::byte* bytes_;
  size_t capacity_;
  uint64_t read_ = 0;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_SHM_RING_H_
