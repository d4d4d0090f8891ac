// Timeline: when each parcel of a preview goes, by the cost model that its
// schedule was chosen by. For pictures and traces.
#ifndef TRANSITION_PREVIEW_TIMELINE_H_
#define TRANSITION_PREVIEW_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "transition/preview/preview.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

struct LaneTimeline {
  Lane lane = Lane::kInside;
  // Grouped: what goes together in a window begins and ends together; ordered:
  // a port does one after the other.
  bool grouped = false;
  int64_t ns = 0;  // the lane's time, with the latency of the last parcel
  // What an ordered schedule sends from one rank to another without a pause is
  // one. In the order of the schedule, in nanoseconds from the transfer's
  // begin; ranks are those of the cluster.
  std::vector<TransferTime> transfers;
};

// kInside, kBetween. Stages, if the preview has them, one after the other.
std::vector<LaneTimeline> TimelinesOf(const Preview& preview);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_TIMELINE_H_
