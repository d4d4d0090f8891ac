// Scatter, gather and all-to-all by node: where a rank has to do with many
// ranks of other nodes, it has one message with each node instead, and a rank
// there hands it out, or has gathered it, inside. The same bytes pass the
// network in fewer messages; they pass the nodes once more, so it pays for
// small pieces. What is on its way waits in a buffer of the rank that hands it
// on.
#ifndef TRANSITION_SCHEDULE_BY_NODE_H_
#define TRANSITION_SCHEDULE_BY_NODE_H_

#include <vector>

#include "transition/schedule/collective.h"

namespace dynatrain::transition {

// All of the moves between nodes of which no other collective has taken any
// (`taken`, by index): each in the form that fits, judged.
//   all-to-all  if each rank of some nodes sends about as much (within 5 %) to
//               each of the other nodes: first to the rank of its own node that
//               has the local rank of the receiver, from there to the receiver;
//   scatter     from a rank to all who get something from other nodes from it
//               alone;
//   gather      to a rank from all who send something to other nodes to it
//               alone.
// No move is in two of them.
std::vector<Collective> FindByNode(const CollectiveContext& context,
                                   const std::vector<bool>& taken);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_BY_NODE_H_
