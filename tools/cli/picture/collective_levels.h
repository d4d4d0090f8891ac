// Levels: collectives of a timeline put above one another where they overlap in
// time, so that each can be drawn, or be an event of a thread.
#ifndef TOOLS_CLI_PICTURE_COLLECTIVE_LEVELS_H_
#define TOOLS_CLI_PICTURE_COLLECTIVE_LEVELS_H_

#include <vector>

#include "transition/preview/timeline.h"

namespace dynatrain::cli {

// The level of each, from 0, as low as may be in the order of their begins
// (of those that begin together: as given).
std::vector<int> LevelsOf(
    const std::vector<transition::CollectiveTime>& collectives);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_COLLECTIVE_LEVELS_H_
