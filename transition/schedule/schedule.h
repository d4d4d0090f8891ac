// Schedule: the order in which the bytes of a Traffic go. It is one list over
// the whole world; the program of a rank is what it has in that list, in that
// order. Whoever follows such programs can't wait in a cycle: the first parcel
// that isn't done is next at both its ends (docs/design/0003-schedule.md).
//
// Cut into windows, a schedule serves transports that start many operations as
// one group (NCCL): window w is one group on each rank that has a parcel in it.
// Both ends of a parcel have it in the same window, so a group never waits
// for another window than its own.
#ifndef TRANSITION_SCHEDULE_SCHEDULE_H_
#define TRANSITION_SCHEDULE_SCHEDULE_H_

#include <compare>
#include <cstdint>
#include <ostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

// Contiguous bytes of what one rank sends to another: [offset_bytes,
// offset_bytes + bytes) of a stream of their pair. The parcels of a stream are
// in a schedule by ascending offset.
struct Parcel {
  int sender = 0;
  int receiver = 0;
  int64_t offset_bytes = 0;
  int64_t bytes = 0;
  int stream = 0;  // of the pair, see Moves; 0 is point to point
  friend auto operator<=>(const Parcel&, const Parcel&) = default;
  friend bool operator==(const Parcel&, const Parcel&) = default;
};

// When a parcel, or a part of one, goes: in bytes or nanoseconds, as the model
// that says so.
struct TransferTime {
  Parcel parcel;
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const TransferTime&, const TransferTime&) = default;
};

struct Schedule {
  std::vector<Parcel> parcels;
  // Where each window begins in `parcels`, ascending from 0, none empty;
  // no entries if the schedule is not cut into windows.
  std::vector<int64_t> window_begins;

  bool windowed() const { return !window_begins.empty(); }
  int num_windows() const { return static_cast<int>(window_begins.size()); }
  // REQUIRES: 0 <= window < num_windows().
  absl::Span<const Parcel> window(int window) const;
  // Behind all there are. REQUIRES: not empty.
  void AddWindow(absl::Span<const Parcel> window);

  // Over all of it.
  Fingerprint Digest() const;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// The parcels of each flow, which is stream 0 of its pair, tile it in ascending
// order, and there are no others.
// Returns kFailedPrecondition naming the first parcel or flow that is wrong.
absl::Status CheckMoves(const Schedule& schedule, const Traffic& traffic);

// The most sends and receives that one rank has in one window; 0 if not
// windowed.
int MaxWindowOperations(const Schedule& schedule, int num_ranks);

inline std::ostream& operator<<(std::ostream& out, const Parcel& parcel) {
  return out << parcel.bytes << " B at " << parcel.offset_bytes << " from rank "
             << parcel.sender << " to rank " << parcel.receiver;
}
inline std::ostream& operator<<(std::ostream& out, const TransferTime& timed) {
  return out << timed.parcel << ", " << timed.begin << " to " << timed.end;
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_SCHEDULE_H_
