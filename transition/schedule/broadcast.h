// Broadcast: where several ranks need the same bytes. What k new replicas need
// from R old ones, each new one gets from the one before it in a chain, so it
// takes S/B and the time to fill the chain, where sending everything from who
// has it takes S k / (R B) (PERFORMANCE, section 7).
#ifndef TRANSITION_SCHEDULE_BROADCAST_H_
#define TRANSITION_SCHEDULE_BROADCAST_H_

#include <vector>

#include "transition/schedule/collective.h"

namespace dynatrain::transition {

// One collective for each set of ranks that need the same regions. In it, each
// rank that sends some of them to several others does it by a ChainTree; those
// that it sends to one rank go the same way, of one hop. Slot s passes hop h in
// window s + depth(h), which is after its sender has it. Judged, in the order
// of their ranks; only those in which some rank would send the same twice.
std::vector<Collective> FindBroadcasts(const CollectiveContext& context);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_BROADCAST_H_
