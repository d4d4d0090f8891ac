#include "transition/preview/timeline.h"

#include <utility>

#include "transition/schedule/cost_model.h"

namespace dynatrain::transition {

std::vector<LaneTimeline> TimelinesOf(const Preview& preview) {
  std::vector<LaneTimeline> timelines;
  for (const LaneChoice& lane : preview.schedule.lanes) {
    const Schedule& schedule = lane.schedule;
    LaneTimeline timeline = {
        .lane = lane.lane, .grouped = schedule.windowed(), .ns = lane.ns};
    timeline.transfers =
        timeline.grouped ? GroupedTimes(schedule, preview.cluster, lane.lane)
                         : OrderedTimes(schedule, preview.cluster, lane.lane,
                                        preview.slot_bytes);
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

}  // namespace dynatrain::transition
