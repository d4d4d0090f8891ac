#include "transition/transport/shm_link.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::transition {
namespace {

constexpr size_t kHeaderBytes = 4096;
constexpr size_t kMinRingBytes = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::Status ErrnoStatus(absl::string_view call) {
  return absl::ResourceExhaustedError(
      absl::StrCat("shared memory link: ", call, ": ", strerror(errno)));
}

bool ValidRingBytes(size_t bytes) {
  return bytes >= kMinRingBytes && std::has_single_bit(bytes);
}

// The size of each ring in `memory`.
absl::StatusOr<size_t> CheckMemory(int memory, size_t max_ring_bytes) {
  struct stat stat;
  if (fstat(memory, &stat) != 0) return ErrnoStatus("fstat");
  const int seals = fcntl(memory, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return absl::InvalidArgumentError(
        "shared memory from a peer must be a memfd sealed against resizing");
  }
  const size_t size = stat.st_size;
  const size_t ring_bytes = size < kHeaderBytes ? 0 : (size - kHeaderBytes) / 2;
  if (!ValidRingBytes(ring_bytes) || ring_bytes > max_ring_bytes ||
      size != kHeaderBytes + 2 * ring_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shared memory from a peer has ", size, " bytes; a header of ",
        kHeaderBytes, " and two rings of a power of two of at most ",
        max_ring_bytes, " bytes are expected"));
  }
  return ring_bytes;
}

}  // namespace

// The header of the memory. Ring i is written by side i.
struct ShmLink::Shared {
  ShmRingControl rings[2];
  // Set by a side before it sleeps, cleared by the one who rings its bell.
  alignas(64) std::atomic<uint32_t> sleeps[2];
};

absl::StatusOr<ShmResources> MakeShmResources(size_t ring_bytes) {
  if (!ValidRingBytes(ring_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ring must have a power of two of at least ",
                     kMinRingBytes, " bytes, not ", ring_bytes));
  }
  ShmResources resources;
  resources.memory.Reset(
      memfd_create("dynatrain-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!resources.memory.valid()) return ErrnoStatus("memfd_create");
  if (ftruncate(resources.memory.get(), kHeaderBytes + 2 * ring_bytes) != 0) {
    return ErrnoStatus("ftruncate");
  }
  if (fcntl(resources.memory.get(), F_ADD_SEALS, kSeals) != 0) {
    return ErrnoStatus("F_ADD_SEALS");
  }
  for (UniqueFd& bell : resources.bells) {
    bell.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!bell.valid()) return ErrnoStatus("eventfd");
  }
  return resources;
}

absl::StatusOr<std::unique_ptr<ShmLink>> ShmLink::Create(ShmResources resources,
                                                         Side side,
                                                         UniqueFd socket,
                                                         size_t max_ring_bytes,
                                                         std::string peer) {
  ASSIGN_OR_RETURN(const size_t ring_bytes,
                   CheckMemory(resources.memory.get(), max_ring_bytes),
                   absl::StrCat("link to ", peer));
  // Populated now: a fault per page would otherwise fall into the pause.
  void* memory =
      mmap(nullptr, kHeaderBytes + 2 * ring_bytes, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_POPULATE, resources.memory.get(), 0);
  if (memory == MAP_FAILED) return ErrnoStatus("mmap");
  return std::unique_ptr<ShmLink>(
      new ShmLink(std::move(resources), side, std::move(socket),
                  static_cast<Shared*>(memory), ring_bytes, std::move(peer)));
}

std::byte* ShmLink::RingBytes(Side writer) const {
  return reinterpret_cast<std::byte*>(shared_) + kHeaderBytes +
         (writer == Side::kMaker ? 0 : ring_bytes_);
}

ShmLink::ShmLink(ShmResources resources, Side side, UniqueFd socket,
                 Shared* shared, size_t ring_bytes, std::string peer)
    : Link(std::move(peer)),
      resources_(std::move(resources)),
      side_(side),
      socket_(std::move(socket)),
      shared_(shared),
      ring_bytes_(ring_bytes),
      writer_(&shared->rings[static_cast<int>(side)], RingBytes(side),
              ring_bytes),
      reader_(&shared->rings[1 - static_cast<int>(side)],
              RingBytes(side == Side::kMaker ? Side::kOther : Side::kMaker),
              ring_bytes) {
  static_assert(sizeof(Shared) <= kHeaderBytes);
}

ShmLink::~ShmLink() { munmap(shared_, kHeaderBytes + 2 * ring_bytes_); }

void ShmLink::RingBell() {
  const int other = 1 - static_cast<int>(side_);
  // Our counter was stored before this load, and the sleeper stores its flag
  // before its last look at the counters, all of it sequentially consistent:
  // one of the two sees the other.
  if (shared_->sleeps[other].load() == 0) return;
  if (shared_->sleeps[other].exchange(0) == 0) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n =
      write(resources_.bells[other].get(), &one, sizeof(one));
}

absl::StatusOr<absl::Span<std::byte>> ShmLink::Space() {
  if (peer_gone_) {
    return absl::UnavailableError(
        absl::StrCat(peer(), " closed its connection"));
  }
  absl::StatusOr<absl::Span<std::byte>> space = writer_.Space();
  return space.ok() ? space : WithContext(space.status(), peer());
}

absl::Status ShmLink::Commit(size_t bytes) {
  writer_.Commit(bytes);
  bytes_sent_ += bytes;
  RingBell();
  return absl::OkStatus();
}

absl::StatusOr<size_t> ShmLink::Write(absl::Span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const absl::Span<std::byte> space, Space());
  const size_t n = std::min(space.size(), bytes.size());
  if (n == 0) return 0;
  memcpy(space.data(), bytes.data(), n);
  RETURN_IF_ERROR(Commit(n));
  return n;
}

absl::StatusOr<absl::Span<const std::byte>> ShmLink::Available() {
  // Read before the ring: what the peer wrote before it went is still ours.
  const bool gone = peer_gone_;
  ASSIGN_OR_RETURN(const absl::Span<const std::byte> bytes, reader_.Available(),
                   peer());
  if (bytes.empty() && gone) {
    return absl::UnavailableError(
        absl::StrCat(peer(), " closed its connection"));
  }
  return bytes;
}

void ShmLink::Consume(size_t bytes) {
  reader_.Consume(bytes);
  bytes_received_ += bytes;
  RingBell();
}

absl::StatusOr<size_t> ShmLink::Read(absl::Span<std::byte> bytes) {
  ASSIGN_OR_RETURN(const absl::Span<const std::byte> available, Available());
  const size_t n = std::min(available.size(), bytes.size());
  if (n == 0) return 0;
  memcpy(bytes.data(), available.data(), n);
  Consume(n);
  return n;
}

bool ShmLink::PrepareToWait(bool want_space, std::vector<pollfd>* fds) {
  std::atomic<uint32_t>& sleeps = shared_->sleeps[static_cast<int>(side_)];
  sleeps.store(1);
  const absl::StatusOr<absl::Span<const std::byte>> bytes = Available();
  const absl::StatusOr<absl::Span<std::byte>> space = Space();
  if (!bytes.ok() || !bytes->empty() || !space.ok() ||
      (want_space && !space->empty())) {
    sleeps.store(0, std::memory_order_relaxed);
    return true;
  }
  fds->push_back({resources_.bells[static_cast<int>(side_)].get(), POLLIN, 0});
  fds->push_back({socket_.get(), POLLIN, 0});
  return false;
}

void ShmLink::FinishWaiting() {
  shared_->sleeps[static_cast<int>(side_)].store(0, std::memory_order_relaxed);
  uint64_t rings;
  [[maybe_unused]] ssize_t n = read(
      resources_.bells[static_cast<int>(side_)].get(), &rings, sizeof(rings));
  // Nothing is ever sent here after the handshake: whatever can be read, an
  // end or an error, means that the peer is gone.
  char byte;
  n = recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
  if (n >= 0 || (errno != EAGAIN && errno != EINTR)) peer_gone_ = true;
}

}  // namespace dynatrain::transition
