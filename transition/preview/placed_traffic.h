// Between processes (union indices) and the ranks of the cluster that they lie
// on.
#ifndef TRANSITION_PREVIEW_PLACED_TRAFFIC_H_
#define TRANSITION_PREVIEW_PLACED_TRAFFIC_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

// Flows between processes as traffic of the cluster, whose ranks `places` are
// by process. Returns kOutOfRange as Traffic::Create.
// REQUIRES: places are not empty, none is there twice.
absl::StatusOr<Traffic> PlacedTraffic(absl::Span<const Flow> flows,
                                      const std::vector<int>& places);

// The process on each rank of the cluster up to the last place; -1: none.
std::vector<int> ProcessesAt(const std::vector<int>& places);

// The inverse for a schedule of such traffic.
Schedule AmongProcesses(Schedule schedule, const std::vector<int>& places);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_PLACED_TRAFFIC_H_
