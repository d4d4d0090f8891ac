// What comes from one peer, unpacked straight into the final tensors.
#ifndef TRANSITION_ENGINE_IN_STREAM_H_
#define TRANSITION_ENGINE_IN_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "transition/engine/bindings.h"
#include "transition/engine/transfer_hooks.h"
#include "transition/engine/verifier.h"
#include "transition/plan/route_list.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

// Thread-compatible. Writes only within `regions`.
class InStream {
 public:
  // `regions[i]` is where `routes[i]` goes. All pointers outlive this.
  InStream(RouteList routes, std::vector<RegionMemory> regions,
           size_t num_blobs, Link* link, Verifier* verifier,
           const TransferHooks* hooks);
  // The verifier points into it.
  InStream(const InStream&) = delete;
  InStream& operator=(const InStream&) = delete;

  // Takes what has come, up to a few pieces. Returns whether anything had.
  // kDataLoss, naming the peer, if the stream isn't what the plan says.
  absl::StatusOr<bool> Advance();
  bool done() const { return state_ == State::kDone; }
  int64_t bytes_total() const { return bytes_total_; }  // of routes
  int64_t bytes_done() const { return bytes_done_; }
  // In the order of the plan. REQUIRES: done().
  const std::vector<std::string>& blobs() const { return blobs_; }

 private:
  enum class State {
    kHeader,
    kRoutes,
    kDigests,
    kBlobSize,
    kBlob,
    kEnd,
    kDone
  };

  absl::StatusOr<bool> ReceiveRoutes();
  absl::StatusOr<size_t> ReceiveUnpacked();
  void Received(int64_t bytes);
  // Gathers `size` bytes in control_; true once they are there.
  absl::StatusOr<bool> ReceiveControl(size_t size);
  absl::StatusOr<bool> AdvanceControl();
  absl::Status CheckHeader() const;
  absl::Status OutOfStep(absl::string_view what) const;
  size_t ControlBytes() const;
  absl::Status TakeControl();

  const RouteList routes_;
  const std::vector<RegionMemory> regions_;
  const size_t num_blobs_;
  Link* const link_;
  Verifier* const verifier_;
  const TransferHooks* const hooks_;
  std::vector<size_t> checks_;  // the verifier's number of each route
  int64_t bytes_total_ = 0;
  int64_t bytes_done_ = 0;
  State state_ = State::kHeader;
  size_t route_ = 0;         // the current one
  int64_t route_bytes_ = 0;  // of it, received
  std::string control_;
  size_t blob_bytes_ = 0;
  std::vector<std::string> blobs_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_IN_STREAM_H_
