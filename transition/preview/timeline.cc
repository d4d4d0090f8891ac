#include "transition/preview/timeline.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "transition/schedule/collective.h"
#include "transition/schedule/cost_model.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/window_costs.h"

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

std::string SizeText(int64_t bytes) {
  return bytes >= 1'000'000'000 ? absl::StrFormat("%.3g GB", bytes / 1e9)
                                : absl::StrFormat("%.3g MB", bytes / 1e6);
}

class Timelines {
 public:
  explicit Timelines(const Preview& preview) : preview_(preview) {
    for (const Lane lane : kLanes) timelines_.push_back({.lane = lane});
  }

  void Add(const ScheduleChoice& choice) {
    AddLanes(choice, begin_);
    begin_ += choice.ns;
  }

  // Collectives, then the rest.
  void Add(const TransferPlan& transfer) {
    for (const Collective& it : transfer.collectives) {
      if (it.chosen()) AddCollective(it, transfer.moves);
    }
    AddLanes(transfer.rest, begin_ + transfer.ns - transfer.rest.ns);
    begin_ += transfer.ns;
  }

  std::vector<LaneTimeline> Finish() && {
    for (LaneTimeline& it : timelines_) it.collectives = collectives_;
    return std::move(timelines_);
  }

 private:
  void AddLanes(const ScheduleChoice& choice, int64_t begin) {
    for (size_t i = 0; i < choice.lanes.size(); ++i) {
      const LaneChoice& lane = choice.lanes[i];
      const Schedule& schedule = lane.schedule;
      if (schedule.parcels.empty()) continue;
      const std::vector<TransferTime> transfers =
          schedule.windowed()
              ? GroupedTimes(schedule, preview_.cluster, lane.lane)
              : Joined(OrderedTimes(schedule, preview_.cluster, lane.lane,
                                    preview_.slot_bytes));
      for (const TransferTime& it : transfers) {
        timelines_[i].transfers.push_back(
            {{it.parcel, begin + it.begin, begin + it.end}});
      }
      timelines_[i].grouped = schedule.windowed();
      timelines_[i].ns = begin + lane.ns;
    }
  }

  void AddCollective(const Collective& collective, const Moves& moves) {
    const int64_t begin = begin_ + collective.begin_ns;
    const int number = static_cast<int>(collectives_.size());
    collectives_.push_back(
        {absl::StrCat(CollectiveKindName(collective.kind), " ", number + 1,
                      " of ", SizeText(collective.bytes), " among ",
                      collective.ranks.size(), " ranks"),
         begin, begin + collective.costs.best().ns()});
    for (const TransferTime& it : TimesOfWindows(
             collective.schedule, preview_.cluster, preview_.execution)) {
      const Parcel& parcel = it.parcel;
      const Lane lane = preview_.cluster.LaneOf(parcel.sender, parcel.receiver);
      LaneTimeline& timeline =
          timelines_[static_cast<size_t>(lane == Lane::kInside ? 0 : 1)];
      // All moves of a stream are alike in this.
      const Move& move =
          moves.Between(parcel.sender, parcel.receiver, parcel.stream)[0];
      timeline.transfers.push_back({{parcel, begin + it.begin, begin + it.end},
                                    number,
                                    move.space != Space::kSource,
                                    move.into == Space::kStaging});
      timeline.ns = std::max(timeline.ns, begin + it.end);
    }
  }

  const Preview& preview_;
  int64_t begin_ = 0;  // of the stage
  std::vector<LaneTimeline> timelines_;
  std::vector<CollectiveTime> collectives_;
};

}  // namespace

std::vector<LaneTimeline> TimelinesOf(const Preview& preview) {
  Timelines timelines(preview);
  if (preview.staging.has_value()) {
    for (const TransferPlan& it : preview.staging->transfers) timelines.Add(it);
  } else if (preview.transfer.has_value()) {
    timelines.Add(*preview.transfer);
  } else {
    timelines.Add(preview.schedule);
  }
  return std::move(timelines).Finish();
}

Traffic SentTraffic(const Preview& preview) {
  std::map<std::pair<int, int>, int64_t> sent;
  for (const LaneTimeline& timeline : TimelinesOf(preview)) {
    for (const LaneTransfer& it : timeline.transfers) {
      sent[{it.parcel.sender, it.parcel.receiver}] += it.parcel.bytes;
    }
  }
  std::vector<Flow> flows;
  for (const auto& [pair, bytes] : sent) {
    flows.push_back({pair.first, pair.second, bytes});
  }
  return *Traffic::Create(preview.traffic.num_ranks(), std::move(flows));
}

}  // namespace dynatrain::transition
