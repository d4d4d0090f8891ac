// Agreement: what ranks have to have in common before anything moves, part by
// part, so that whoever finds a difference can say in what. It is compared as a
// text: each rank says its own when it has made its plan, agents compare those
// of their ranks, the operator those of agents, and every command carries it.
//
//   input.agreement().Text()    "06d1…/planner-51a0c2d3/tensors-9f…/…"
//   AgreementDifference(ours, theirs)    "target layout, senders"
#ifndef TRANSITION_PLAN_AGREEMENT_H_
#define TRANSITION_PLAN_AGREEMENT_H_

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "base/fingerprint.h"

namespace dynatrain::transition {

enum class AgreedPart {
  kPlanner = 0,   // its version
  kTensors,       // names, states, dtypes, shapes
  kSourceLayout,  // where they are, and where they are to be
  kSourceRanks,   // the processes, by rank, and where they run
  kTargetLayout,
  kTargetRanks,
  kOptions,   // of the plan
  kWeights,   // those that are made anew, if any
  kSenders,   // how they are balanced, if they are
  kCluster,   // figures and options of schedules, where there is one
  kSchedule,  //   (schedule/transfer_plan.h)
};
inline constexpr size_t kNumAgreedParts = 11;

class Agreement {
 public:
  // A part that was never set, or to Fingerprint(), is not there.
  Agreement& Set(AgreedPart part, const Fingerprint& fingerprint);

  // Of all parts.
  Fingerprint Digest() const;
  // The digest in hex, then for each part that is there its tag and 8 digits:
  // equal exactly if the digests are. ASCII without spaces, below 256 bytes.
  std::string Text() const;

  friend bool operator==(const Agreement&, const Agreement&) = default;

 private:
  std::array<Fingerprint, kNumAgreedParts> parts_;
};

// The names of the parts in which two texts differ, for people; if neither
// names any, both texts. "" if they are equal.
std::string AgreementDifference(absl::string_view text,
                                absl::string_view other);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_AGREEMENT_H_
