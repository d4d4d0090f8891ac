#include "transition/engine/out_stream.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "transition/device/run_copy.h"
#include "transition/engine/stream_format.h"

namespace dynatrain::transition {
namespace {

// Small enough to lie in the L2 cache between packing and unpacking.
constexpr int64_t kPieceBytes = 256 << 10;
// From here on a stretch of memory is sent where it lies: a call for less costs
// more than copying it (PERFORMANCE, "Small messages").
constexpr int64_t kInPlaceBytes = 64 << 10;
// Then it is another peer's turn.
constexpr int64_t kTurnBytes = 1 << 20;

absl::Span<const std::byte> Bytes(absl::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

OutStream::OutStream(std::vector<RegionMemory> regions,
                     std::vector<std::string> blobs, Link* link)
    : regions_(std::move(regions)),
      blobs_(std::move(blobs)),
      link_(link),
      digests_(regions_.size(), 0) {
  for (const RegionMemory& region : regions_) {
    bytes_total_ += region.num_bytes();
  }
  PutWord(kStreamBegin, control_);
  PutWord(regions_.size(), control_);
  PutWord(bytes_total_, control_);
}

std::string OutStream::Trailer() const {
  std::string bytes;
  for (uint64_t digest : digests_) PutWord(digest, bytes);
  for (const std::string& blob : blobs_) {
    PutWord(blob.size(), bytes);
    bytes += blob;
  }
  PutWord(kStreamEnd, bytes);
  return bytes;
}

absl::StatusOr<bool> OutStream::SendControl(State next) {
  ASSIGN_OR_RETURN(
      const size_t n,
      link_->Write(Bytes(absl::string_view(control_).substr(control_sent_))));
  control_sent_ += n;
  if (control_sent_ == control_.size()) state_ = next;
  return n > 0;
}

void OutStream::Sent(size_t bytes) {
  const RegionMemory& region = regions_[route_];
  route_bytes_ += bytes;
  bytes_done_ += bytes;
  const int64_t whole = route_bytes_ / region.item_bytes();
  digests_[route_] += region.Digest(route_elements_, whole - route_elements_);
  route_elements_ = whole;
  if (route_bytes_ == region.num_bytes()) {
    ++route_;
    route_bytes_ = route_elements_ = 0;
  }
}

absl::StatusOr<size_t> OutStream::SendPacked() {
  ASSIGN_OR_RETURN(absl::Span<std::byte> space, link_->Space());
  space = space.subspan(0, std::min<size_t>(space.size(), kPieceBytes));
  size_t filled = 0;
  while (filled < space.size() && route_ < regions_.size()) {
    const RegionMemory& region = regions_[route_];
    const auto piece = space.subspan(
        filled, std::min<size_t>(space.size() - filled,
                                 region.num_bytes() - route_bytes_));
    Pack(region.view(), route_bytes_, piece);
    filled += piece.size();
    Sent(piece.size());
  }
  if (filled > 0) RETURN_IF_ERROR(link_->Commit(filled));
  return filled;
}

absl::StatusOr<bool> OutStream::SendRoutes() {
  int64_t turn_bytes = 0;
  while (route_ < regions_.size() && turn_bytes < kTurnBytes) {
    const RegionMemory& region = regions_[route_];
    const auto stretch =
        ContiguousAt(ConstRunView(region.view()), route_bytes_, kPieceBytes);
    size_t n = 0;
    if (std::ssize(stretch) >= kInPlaceBytes) {
      ASSIGN_OR_RETURN(n, link_->Write(stretch));
      Sent(n);
    } else {
      ASSIGN_OR_RETURN(n, SendPacked());
    }
    if (n == 0) break;
    turn_bytes += n;
  }
  if (route_ == regions_.size()) {
    control_ = Trailer();
    control_sent_ = 0;
    state_ = State::kTrailer;
    return true;
  }
  return turn_bytes > 0;
}

absl::StatusOr<bool> OutStream::Advance() {
  switch (state_) {
    case State::kHeader:
      return SendControl(State::kRoutes);
    case State::kRoutes:
      return SendRoutes();
    case State::kTrailer:
      return SendControl(State::kFlush);
    case State::kFlush: {
      ASSIGN_OR_RETURN(const bool flushed, link_->Flush());
      if (flushed) state_ = State::kDone;
      return flushed;
    }
    case State::kDone:
      return false;
  }
  return false;
}

}  // namespace dynatrain::transition
