// Blobs: state that is no tensor, and where a target rank gets it from.
#ifndef TRANSITION_PLAN_BLOBS_H_
#define TRANSITION_PLAN_BLOBS_H_

#include <compare>
#include <optional>
#include <ostream>
#include <vector>

#include "absl/strings/string_view.h"
#include "transition/plan/plan_input.h"

namespace dynatrain::transition {

enum class BlobKind {
  // Equal on all ranks (schedulers, sample cursor): from the rank's own process
  // if it survives, else from source rank (target rank mod source size).
  kCommon = 0,
  // Belongs to a mesh coordinate (RNG): from the source rank with the same
  // coordinate on every axis; none if the source mesh has no such rank.
  kCoordinate = 1,
};

// "common", "coordinate".
absl::string_view BlobName(BlobKind kind);

struct BlobRoute {
  BlobKind kind = BlobKind::kCommon;
  int source_rank = 0;
  int target_rank = 0;
  friend auto operator<=>(const BlobRoute&, const BlobRoute&) = default;
};

// The source rank of the blob; nullopt if none goes to that target, as always
// when the source world is empty.
std::optional<int> BlobSource(const PlanInput& input, BlobKind kind,
                              int target_rank);

// The blobs that a rank receives and sends, by kind and then target rank; what
// stays in its process too.
std::vector<BlobRoute> BlobsTo(const PlanInput& input, int target_rank);
std::vector<BlobRoute> BlobsFrom(const PlanInput& input, int source_rank);

inline std::ostream& operator<<(std::ostream& out, const BlobRoute& route) {
  return out << BlobName(route.kind) << " from rank " << route.source_rank
             << " to rank " << route.target_rank;
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_BLOBS_H_
