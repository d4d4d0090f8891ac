// Which send meets which receive.
#ifndef TRANSITION_CHECK_MATCHING_H_
#define TRANSITION_CHECK_MATCHING_H_

#include <vector>

#include "absl/types/span.h"
#include "transition/check/violation.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

struct Matching {
  struct End {
    int rank = -1;
    int operation = -1;
    int stream = -1;  // sender, receiver and channel, numbered
    int place = 0;    // among the messages of the stream
  };
  // By rank and operation; rank -1 for what is no message.
  std::vector<std::vector<End>> other_end;
  int num_streams = 0;
  Violations violations;  // kUnmatched; `other_end` is complete without
};

// REQUIRES: CheckForm found nothing, as for all below.
Matching Match(absl::Span<const Program> programs);

// kMismatched and kGroup: the ends of each message agree on tensors and regions
// (each has a copy of its own), and are in the same window or both in none.
Violations CheckEnds(absl::Span<const Program> programs,
                     const Matching& matching);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_MATCHING_H_
