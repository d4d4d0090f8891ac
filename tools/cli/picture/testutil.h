// Small plans to draw, for tests.
#ifndef TOOLS_CLI_PICTURE_TESTUTIL_H_
#define TOOLS_CLI_PICTURE_TESTUTIL_H_

#include "transition/preview/preview.h"

namespace dynatrain::cli {

// One tensor of 4 * `ranks` rows of 1 MB, cut over dp of half of the
// ranks, that is cut over all of them later: process i is on rank i of nodes
// of `per_node` ranks with `nics` NICs each.
transition::Preview PreviewForTest(int ranks, int per_node, int nics,
                                   bool grouped);

// A tensor of 64 MB that one rank has, and `ranks` are to have: with the
// collective that wins. Ordered; a NIC for each node.
transition::Preview FanOutForTest(int ranks, int per_node);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_TESTUTIL_H_
