#include "transition/transport/shm_ring.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

absl::Status Impossible(uint64_t written, uint64_t read, size_t capacity) {
  return absl::DataLossError(absl::StrCat("the shared ring of ", capacity,
                                          " bytes is damaged: ", written,
                                          " bytes written, ", read, " read"));
}

}  // namespace

absl::StatusOr<absl::Span<std::byte>> ShmRingWriter::Space() const {
  const uint64_t read = control_->read.load();
  const uint64_t used = written_ - read;
  if (used > capacity_) return Impossible(written_, read, capacity_);
  const size_t at = written_ & (capacity_ - 1);
  return absl::MakeSpan(bytes_ + at,
                        std::min<size_t>(capacity_ - used, capacity_ - at));
}

void ShmRingWriter::Commit(size_t bytes) {
  written_ += bytes;
  control_->written.store(written_);
}

absl::StatusOr<absl::Span<const std::byte>> ShmRingReader::Available() const {
  const uint64_t written = control_->written.load();
  const uint64_t used = written - read_;
  if (used > capacity_) return Impossible(written, read_, capacity_);
  const size_t at = read_ & (capacity_ - 1);
  return absl::MakeConstSpan(bytes_ + at,
                             std::min<size_t>(used, capacity_ - at));
}

void ShmRingReader::Consume(size_t bytes) {
  read_ += bytes;
  control_->read.store(read_);
}

}  // namespace dynatrain::transition
