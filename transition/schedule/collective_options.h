// What collectives may cost and how large they may be.
#ifndef TRANSITION_SCHEDULE_COLLECTIVE_OPTIONS_H_
#define TRANSITION_SCHEDULE_COLLECTIVE_OPTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/fingerprint.h"

namespace dynatrain::transition {

struct CollectiveOptions {
  // A collective is considered from here on: below, joining its group costs
  // what it could save. Ranks with the roots; bytes that end up where they are
  // needed.
  int min_ranks = 3;
  int64_t min_bytes = int64_t{32} << 20;
  // Bounds of what a port does of a pipeline in one window; in between it is
  // chosen, see PipelineSlot.
  int64_t min_slot_bytes = 64 << 10;
  int64_t max_slot_bytes = int64_t{32} << 20;
  // That one rank holds for others.
  int64_t max_staging_bytes = int64_t{256} << 20;
  // Collectives are global: above these it would take too long to make them.
  int max_ranks = 1024;
  int64_t max_parcels = 1 << 20;  // of one collective

  // Over all options.
  Fingerprint Digest() const;

  friend bool operator==(const CollectiveOptions&,
                         const CollectiveOptions&) = default;
};

// kInvalidArgument naming the field that is out of range.
absl::Status CheckCollectiveOptions(const CollectiveOptions& options);

// The slot that makes S bytes through a pipeline fastest if `hops` slots pass
// before the last rank is busy: time is (S/c + hops) x (c/B + m), least at c =
// sqrt(S m B / hops). REQUIRES: valid options, hops >= 1.
int64_t PipelineSlot(int64_t bytes, int64_t bytes_per_second,
                     int64_t per_slot_ns, int hops,
                     const CollectiveOptions& options);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_COLLECTIVE_OPTIONS_H_
