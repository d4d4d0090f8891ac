// Places: which ranks and nodes of a cluster a plan is about, and what becomes
// of the processes there.
#ifndef TOOLS_CLI_PICTURE_PLACES_H_
#define TOOLS_CLI_PICTURE_PLACES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "transition/preview/preview.h"

namespace dynatrain::cli {

enum class Role {
  kEmpty,   // no process of either world
  kStays,   // in both worlds
  kLeaves,  // holds nothing any more
  kJoins,   // held nothing before
  kMixed,   // of a group: ranks of several roles
};

// "stays", "leaves", ...; "" for kEmpty.
absl::string_view RoleName(Role role);
// The colour of its mark.
absl::string_view RoleColour(Role role);

struct Places {
  std::vector<int> nodes;   // with processes, ascending
  std::vector<Role> roles;  // of every rank of the cluster

  // kEmpty if all are; kMixed if those that are not differ.
  Role RoleOf(int first_rank, int num_ranks) const;
};

Places PlacesOf(const transition::Preview& preview);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_PLACES_H_
