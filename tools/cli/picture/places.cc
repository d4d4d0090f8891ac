#include "tools/cli/picture/places.h"

#include <algorithm>

namespace dynatrain::cli {

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kEmpty:
      return "";
    case Role::kStays:
      return "stays";
    case Role::kLeaves:
      return "leaves";
    case Role::kJoins:
      return "joins";
    case Role::kMixed:
      return "some of these";
  }
  return "";
}

absl::string_view RoleColour(Role role) {
  switch (role) {
    case Role::kEmpty:
      return "#ffffff";
    case Role::kStays:
      return "#868e96";
    case Role::kLeaves:
      return "#e03131";
    case Role::kJoins:
      return "#2f9e44";
    case Role::kMixed:
      return "#9c36b5";
  }
  return "#ffffff";
}

Role Places::RoleOf(int first_rank, int num_ranks) const {
  Role role = Role::kEmpty;
  for (int rank = first_rank; rank < first_rank + num_ranks; ++rank) {
    if (roles[rank] == Role::kEmpty || roles[rank] == role) continue;
    role = role == Role::kEmpty ? roles[rank] : Role::kMixed;
    if (role == Role::kMixed) break;
  }
  return role;
}

Places PlacesOf(const transition::Preview& preview) {
  Places places;
  places.roles.assign(preview.cluster.num_ranks(), Role::kEmpty);
  const std::vector<int>& place = preview.place_of_process;
  for (int process = 0; process < static_cast<int>(place.size()); ++process) {
    const bool after = preview.bytes.processes[process].sums.target_bytes > 0;
    places.roles[place[process]] = process >= preview.source_size
                                       ? Role::kJoins
                                       : (after ? Role::kStays : Role::kLeaves);
    places.nodes.push_back(preview.cluster.NodeOf(place[process]));
  }
  std::sort(places.nodes.begin(), places.nodes.end());
  places.nodes.erase(std::unique(places.nodes.begin(), places.nodes.end()),
                     places.nodes.end());
  return places;
}

}  // namespace dynatrain::cli
