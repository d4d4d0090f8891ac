// Which schedule is used: XOR windows or the list schedule, whichever the cost
// model says is faster, for each lane on its own since lanes work at once. All
// that was compared is kept, so that people can see why.
//
//   ASSIGN_OR_RETURN(ScheduleChoice choice,
//                    ChooseSchedule(traffic, cluster, {}));
//   std::cout << choice.DebugString();
#ifndef TRANSITION_SCHEDULE_CHOOSE_SCHEDULE_H_
#define TRANSITION_SCHEDULE_CHOOSE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/fingerprint.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/execution.h"
#include "transition/schedule/list_schedule.h"
#include "transition/schedule/lower_bounds.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

enum class ScheduleKind { kXor = 0, kList = 1 };

// "xor", "list".
const char* ScheduleKindName(ScheduleKind kind);

// XOR is refused above this ratio of its makespan to the bound in the port
// model, in thousandths, where there is a list schedule.
inline constexpr int64_t kMaxXorRatioPermille = 1030;

struct ScheduleOptions {
  Execution execution = Execution::kOrdered;
  ListOptions list;
  int64_t slot_bytes = 8 << 20;
  // That a port sends in one window, and that it receives: what is in flight.
  // By XOR, a unit for each pair of a window goes in any case.
  int64_t max_window_bytes = int64_t{256} << 20;
  // A list schedule is global: above these it would take too long to make.
  int max_list_ranks = 1024;
  int64_t max_list_flows = 1 << 20;

  // Over all options.
  Fingerprint Digest() const;

  friend bool operator==(const ScheduleOptions&,
                         const ScheduleOptions&) = default;
};

// One schedule of one lane under all models.
struct CandidateCosts {
  ScheduleKind kind = ScheduleKind::kXor;
  int64_t num_parcels = 0;
  int num_windows = 0;
  // In the port model with the lane's ports, to compare with the bound.
  int64_t ordered_bytes = 0;
  int64_t windowed_bytes = 0;
  // On the cluster.
  int64_t ordered_ns = 0;
  int64_t grouped_ns = 0;

  friend bool operator==(const CandidateCosts&,
                         const CandidateCosts&) = default;
};

struct LaneChoice {
  Lane lane = Lane::kInside;
  int64_t bound_bytes = 0;  // PortBound of the lane's traffic
  std::vector<CandidateCosts> candidates;
  ScheduleKind kind = ScheduleKind::kXor;
  // Windowed exactly if execution is kGrouped and it has parcels.
  Schedule schedule;
  int64_t ns = 0;  // of it
};

struct ScheduleChoice {
  LowerBounds bounds;
  std::vector<LaneChoice> lanes;  // kInside, kBetween
  int64_t ns = 0;                 // the longer of the lanes

  // Of both schedules: ranks that agree on it do the same.
  Fingerprint Digest() const;
  // Bounds, then a line per lane and candidate with "*" at the chosen one.
  std::string DebugString() const;
};

// Ranks of the traffic are those of the cluster. Returns kInvalidArgument if
// there are more of them than the cluster has, or an option is out of range.
absl::StatusOr<ScheduleChoice> ChooseSchedule(const Traffic& traffic,
                                              const ClusterModel& cluster,
                                              const ScheduleOptions& options);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_CHOOSE_SCHEDULE_H_
