// What goes from this process to one peer, see stream_format.h.
#ifndef TRANSITION_ENGINE_OUT_STREAM_H_
#define TRANSITION_ENGINE_OUT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/engine/bindings.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

// Thread-compatible. Only reads the source tensors.
class OutStream {
 public:
  // `regions` in the order of the plan; `blobs` likewise, one (maybe empty) for
  // each blob route. `link` outlives this.
  OutStream(std::vector<RegionMemory> regions, std::vector<std::string> blobs,
            Link* link);

  // Sends what goes without waiting, up to a few pieces so that other peers
  // have their turn. Returns whether anything went.
  absl::StatusOr<bool> Advance();
  // True if everything has left this process.
  bool done() const { return state_ == State::kDone; }
  int64_t bytes_total() const { return bytes_total_; }  // of routes
  int64_t bytes_done() const { return bytes_done_; }

 private:
  enum class State { kHeader, kRoutes, kTrailer, kFlush, kDone };

  absl::StatusOr<bool> SendControl(State next);
  absl::StatusOr<bool> SendRoutes();
  // Fills staging memory with as many pieces of routes as it takes.
  absl::StatusOr<size_t> SendPacked();
  // Takes note of `bytes` of the current route, and digests them in the source
  // while the cache still has them.
  void Sent(size_t bytes);
  std::string Trailer() const;

  const std::vector<RegionMemory> regions_;
  const std::vector<std::string> blobs_;
  Link* const link_;
  int64_t bytes_total_ = 0;
  int64_t bytes_done_ = 0;
  State state_ = State::kHeader;
  std::string control_;  // header or trailer
  size_t control_sent_ = 0;
  size_t route_ = 0;            // the current one
  int64_t route_bytes_ = 0;     // of it, sent
  int64_t route_elements_ = 0;  // of it, digested
  std::vector<uint64_t> digests_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_OUT_STREAM_H_
