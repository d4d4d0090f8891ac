// Claims: what programs are checked against, from the two worlds and the job,
// not from the plan.
#ifndef TRANSITION_CHECK_CLAIMS_H_
#define TRANSITION_CHECK_CLAIMS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/fingerprint.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

struct RankClaims {
  std::vector<Piece> source;  // held at the start; those of a copy disjoint
  std::vector<Piece> target;  // to be held at the end; those of a copy disjoint
  // Of `target`, what is to be zero since no source has it; all else is not.
  std::vector<Piece> zeros;
  // Of source, target and staging memory together, at any time.
  int64_t limit_bytes = std::numeric_limits<int64_t>::max();
  // Source and target memory count in whole extents of so many bytes
  // (extent_use.h), in the order of the pieces above. 1: any bytes.
  int64_t extent_bytes = 1;
};

struct Claims {
  Fingerprint plan_digest;
  std::vector<int64_t> item_bytes;  // of an element, by tensor
  std::vector<RankClaims> ranks;
  int max_group_operations = 256;
  // Messages that may wait at a receiver, per sender and channel, for which
  // waiting is checked besides none (rendezvous).
  std::vector<int> credits = {1, 4};
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_CLAIMS_H_
