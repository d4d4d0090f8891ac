// Timeline: when each parcel of a preview goes, by the cost model that its
// schedule was chosen by. For pictures and traces.
#ifndef TRANSITION_PREVIEW_TIMELINE_H_
#define TRANSITION_PREVIEW_TIMELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "transition/preview/preview.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

// A parcel, or several that one rank sends to another without a pause.
struct LaneTransfer : TransferTime {
  int collective = -1;  // of LaneTimeline::collectives; -1: point to point
  // What the sender has received before, and what the receiver is to pass on
  // and doesn't keep.
  bool passed_on = false;
  bool relayed = false;
};

// From its first window to its last, of both lanes.
struct CollectiveTime {
  std::string name;  // "broadcast 2 of 14.2 GB among 16 ranks"
  int64_t begin = 0;
  int64_t end = 0;
};

struct LaneTimeline {
  Lane lane = Lane::kInside;
  // Grouped: what goes together in a window begins and ends together; ordered:
  // a port does one after the other. Of a collective it is always windows.
  bool grouped = false;
  int64_t ns = 0;  // the lane's time, with the latency of the last parcel
  // What an ordered schedule sends from one rank to another without a pause is
  // one. By stage, collectives first, each in the order of its schedule; in
  // nanoseconds from the transfer's begin; ranks are those of the cluster.
  std::vector<LaneTransfer> transfers;
  // Those of which some transfers are of this lane or of the other; in the
  // order of stages, then of the plan.
  std::vector<CollectiveTime> collectives;
};

// kInside, kBetween. Stages, if the preview has them, one after the other.
std::vector<LaneTimeline> TimelinesOf(const Preview& preview);

// All that ranks send each other, what is passed on included.
Traffic SentTraffic(const Preview& preview);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PREVIEW_TIMELINE_H_
