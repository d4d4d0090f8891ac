#include "transition/preview/timeline.h"

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "transition/schedule/cost_model.h"

namespace dynatrain::transition {
namespace {

// Pieces of a pair that go one after the other without a pause are one.
std::vector<TransferTime> Joined(const std::vector<TransferTime>& pieces) {
  std::vector<TransferTime> joined;
  absl::flat_hash_map<std::pair<int, int>, size_t> last_of_pair;
  for (const TransferTime& piece : pieces) {
    const auto [last, is_first] = last_of_pair.try_emplace(
        {piece.parcel.sender, piece.parcel.receiver}, joined.size());
    if (!is_first && joined[last->second].end == piece.begin) {
      joined[last->second].end = piece.end;
      joined[last->second].parcel.bytes += piece.parcel.bytes;
      continue;
    }
    last->second = joined.size();
    joined.push_back(piece);
  }
  return joined;
}

// Appends what the lane does in a stage that begins at `begin`.
void Append(const Preview& preview, const LaneChoice& lane, int64_t begin,
            LaneTimeline& timeline) {
  const Schedule& schedule = lane.schedule;
  if (schedule.parcels.empty()) return;
  std::vector<TransferTime> transfers =
      schedule.windowed() ? GroupedTimes(schedule, preview.cluster, lane.lane)
                          : Joined(OrderedTimes(schedule, preview.cluster,
                                                lane.lane, preview.slot_bytes));
  for (TransferTime& it : transfers) {
    it.begin += begin;
    it.end += begin;
    timeline.transfers.push_back(it);
  }
  timeline.grouped = schedule.windowed();
  timeline.ns = begin + lane.ns;
}

}  // namespace

std::vector<LaneTimeline> TimelinesOf(const Preview& preview) {
  std::vector<LaneTimeline> timelines;
  for (const Lane lane : kLanes) timelines.push_back({.lane = lane});
  int64_t begin = 0;
  const auto add_stage = [&](const ScheduleChoice& stage) {
    for (size_t i = 0; i < stage.lanes.size(); ++i) {
      Append(preview, stage.lanes[i], begin, timelines[i]);
    }
    begin += stage.ns;
  };
  if (preview.staging.has_value()) {
    for (const ScheduleChoice& stage : preview.staging->schedules) {
      add_stage(stage);
    }
  } else {
    add_stage(preview.schedule);
  }
  return timelines;
}

}  // namespace dynatrain::transition
