// CheckRange: a number of the input is in its range.
#ifndef TRANSITION_SCHEDULE_CHECK_RANGE_H_
#define TRANSITION_SCHEDULE_CHECK_RANGE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::transition {

// OK, or kInvalidArgument: "cluster: num_nodes is 0; it must be 1 to 65536, the
// nearest is 1".
inline absl::Status CheckRange(const char* of, const char* field, int64_t value,
                               int64_t min, int64_t max) {
  if (min <= value && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(of, ": ", field, " is ", value, "; it must be ", min, " to ",
                   max, ", the nearest is ", value < min ? min : max));
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_CHECK_RANGE_H_
