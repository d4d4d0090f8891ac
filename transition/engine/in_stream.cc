#include "transition/engine/in_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/device/run_copy.h"
#include "transition/engine/stream_format.h"

namespace dynatrain::transition {
namespace {

// As in out_stream.cc.
constexpr int64_t kPieceBytes = 256 << 10;
constexpr int64_t kInPlaceBytes = 64 << 10;
constexpr int64_t kTurnBytes = 1 << 20;

}  // namespace

InStream::InStream(RouteList routes, std::vector<RegionMemory> regions,
                   size_t num_blobs, Link* link, Verifier* verifier,
                   const TransferHooks* hooks)
    : routes_(std::move(routes)),
      regions_(std::move(regions)),
      num_blobs_(num_blobs),
      link_(link),
      verifier_(verifier),
      hooks_(hooks) {
  for (size_t i = 0; i < routes_.size(); ++i) {
    bytes_total_ += regions_[i].num_bytes();
    checks_.push_back(verifier_->Add(routes_[i], &regions_[i]));
  }
}

absl::Status InStream::OutOfStep(absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(
      "the stream of ", link_->peer(), " is not what the plan says: ", what));
}

absl::Status InStream::CheckHeader() const {
  const absl::string_view header = control_;
  if (GetWord(header) != kStreamBegin) return OutOfStep("no header");
  const uint64_t num_routes = GetWord(header.substr(kWordBytes));
  const uint64_t num_bytes = GetWord(header.substr(2 * kWordBytes));
  if (num_routes == routes_.size() && num_bytes == bytes_total_) {
    return absl::OkStatus();
  }
  return OutOfStep(absl::StrCat("it has ", num_routes, " routes of ", num_bytes,
                                " bytes, expected were ", routes_.size(),
                                " of ", bytes_total_));
}

void InStream::Received(int64_t bytes) {
  const RegionMemory& region = regions_[route_];
  if (hooks_ != nullptr && hooks_->after_unpack) {
    hooks_->after_unpack(routes_[route_],
                         ContiguousAt(region.view(), route_bytes_, bytes));
  }
  route_bytes_ += bytes;
  bytes_done_ += bytes;
  if (route_bytes_ < region.num_bytes()) return;
  verifier_->Written(checks_[route_]);
  ++route_;
  route_bytes_ = 0;
}

absl::StatusOr<size_t> InStream::ReceiveUnpacked() {
  ASSIGN_OR_RETURN(absl::Span<const std::byte> bytes, link_->Available());
  bytes = bytes.subspan(0, std::min<size_t>(bytes.size(), kPieceBytes));
  size_t taken = 0;
  while (taken < bytes.size() && route_ < regions_.size()) {
    const RegionMemory& region = regions_[route_];
    const auto piece = bytes.subspan(
        taken, std::min<size_t>(bytes.size() - taken,
                                region.num_bytes() - route_bytes_));
    Unpack(piece, region.view(), route_bytes_);
    taken += piece.size();
    Received(piece.size());
  }
  if (taken > 0) link_->Consume(taken);
  return taken;
}

absl::StatusOr<bool> InStream::ReceiveRoutes() {
  int64_t turn_bytes = 0;
  while (route_ < regions_.size() && turn_bytes < kTurnBytes) {
    const auto stretch =
        ContiguousAt(regions_[route_].view(), route_bytes_, kPieceBytes);
    size_t n = 0;
    if (std::ssize(stretch) >= kInPlaceBytes) {
      ASSIGN_OR_RETURN(n, link_->Read(stretch));
      if (n > 0) Received(n);
    } else {
      ASSIGN_OR_RETURN(n, ReceiveUnpacked());
    }
    if (n == 0) break;
    turn_bytes += n;
  }
  if (route_ == regions_.size()) {
    state_ = State::kDigests;
    return true;
  }
  return turn_bytes > 0;
}

absl::StatusOr<bool> InStream::ReceiveControl(size_t size) {
  while (control_.size() < size) {
    ASSIGN_OR_RETURN(const absl::Span<const std::byte> bytes,
                     link_->Available());
    if (bytes.empty()) return false;
    const size_t n = std::min(bytes.size(), size - control_.size());
    control_.append(reinterpret_cast<const char*>(bytes.data()), n);
    link_->Consume(n);
  }
  return true;
}

size_t InStream::ControlBytes() const {
  switch (state_) {
    case State::kHeader:
      return kHeaderBytes;
    case State::kDigests:
      return routes_.size() * kWordBytes;
    case State::kBlob:
      return blob_bytes_;
    default:
      return kWordBytes;
  }
}

absl::Status InStream::TakeControl() {
  switch (state_) {
    case State::kHeader:
      state_ = State::kRoutes;
      return CheckHeader();
    case State::kDigests:
      for (size_t i = 0; i < routes_.size(); ++i) {
        verifier_->Expect(
            checks_[i],
            GetWord(absl::string_view(control_).substr(i * kWordBytes)));
      }
      break;
    case State::kBlobSize:
      if (GetWord(control_) > kMaxBlobBytes) {
        return OutOfStep(absl::StrCat("a blob of ", GetWord(control_),
                                      " bytes; at most ", kMaxBlobBytes,
                                      " are allowed"));
      }
      blob_bytes_ = GetWord(control_);
      state_ = State::kBlob;
      return absl::OkStatus();
    case State::kBlob:
      blobs_.push_back(std::move(control_));
      break;
    default:
      state_ = State::kDone;
      return GetWord(control_) == kStreamEnd ? absl::OkStatus()
                                             : OutOfStep("no end");
  }
  state_ = blobs_.size() < num_blobs_ ? State::kBlobSize : State::kEnd;
  return absl::OkStatus();
}

absl::StatusOr<bool> InStream::AdvanceControl() {
  ASSIGN_OR_RETURN(const bool whole, ReceiveControl(ControlBytes()));
  if (!whole) return false;
  RETURN_IF_ERROR(TakeControl());
  control_.clear();
  return true;
}

absl::StatusOr<bool> InStream::Advance() {
  if (done()) return false;
  return state_ == State::kRoutes ? ReceiveRoutes() : AdvanceControl();
}

}  // namespace dynatrain::transition
