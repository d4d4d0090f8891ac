// The collectives of a plan as bars on the time axis of the timelines, each
// with its name.
#ifndef TOOLS_CLI_PICTURE_COLLECTIVE_STRIP_H_
#define TOOLS_CLI_PICTURE_COLLECTIVE_STRIP_H_

#include <cstdint>
#include <vector>

#include "tools/cli/picture/svg.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {

// Where the axis begins, from the left of a chart, and how wide it is.
inline constexpr double kTimeLabelWidth = 96;
inline constexpr double kTimeWidth = 800;

// `ns`: all of the time axis. Returns what was drawn. REQUIRES: at least one.
Rect DrawCollectives(Svg& svg, double left, double top,
                     const std::vector<transition::CollectiveTime>& collectives,
                     int64_t ns);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_COLLECTIVE_STRIP_H_
