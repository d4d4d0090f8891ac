#include "transition/preview/placed_traffic.h"

#include <algorithm>
#include <utility>

namespace dynatrain::transition {

absl::StatusOr<Traffic> PlacedTraffic(absl::Span<const Flow> flows,
                                      const std::vector<int>& places) {
  std::vector<Flow> placed;
  placed.reserve(flows.size());
  for (const Flow& flow : flows) {
    placed.push_back({places[flow.sender], places[flow.receiver], flow.bytes});
  }
  const int num_ranks = 1 + *std::max_element(places.begin(), places.end());
  return Traffic::Create(num_ranks, std::move(placed));
}

std::vector<int> ProcessesAt(const std::vector<int>& places) {
  std::vector<int> process_at(
      1 + *std::max_element(places.begin(), places.end()), -1);
  for (int i = 0; i < static_cast<int>(places.size()); ++i) {
    process_at[places[i]] = i;
  }
  return process_at;
}

Schedule AmongProcesses(Schedule schedule, const std::vector<int>& places) {
  const std::vector<int> process_at = ProcessesAt(places);
  for (Parcel& parcel : schedule.parcels) {
    parcel.sender = process_at[parcel.sender];
    parcel.receiver = process_at[parcel.receiver];
  }
  return schedule;
}

}  // namespace dynatrain::transition
