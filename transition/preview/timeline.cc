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

}  // namespace

std::vector<LaneTimeline> TimelinesOf(const Preview& preview) {
  std::vector<LaneTimeline> timelines;
  for (const LaneChoice& lane : preview.schedule.lanes) {
    const Schedule& schedule = lane.schedule;
    LaneTimeline timeline = {
        .lane = lane.lane, .grouped = schedule.windowed(), .ns = lane.ns};
    timeline.transfers =
        timeline.grouped ? GroupedTimes(schedule, preview.cluster, lane.lane)
                         : Joined(OrderedTimes(schedule, preview.cluster,
                                               lane.lane, preview.slot_bytes));
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

}  // namespace dynatrain::transition
