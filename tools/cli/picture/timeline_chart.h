// The timeline of one lane: a row per port, or where these are too many per
// node, and time to the right. Each row has two halves: above what it sends,
// below what it receives. Few transfers are drawn one by one, in the colour of
// the row at their other end; many as how busy the row is.
#ifndef TOOLS_CLI_PICTURE_TIMELINE_CHART_H_
#define TOOLS_CLI_PICTURE_TIMELINE_CHART_H_

#include <cstdint>

#include "tools/cli/picture/places.h"
#include "tools/cli/picture/svg.h"
#include "transition/preview/preview.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {

// Draws it with its upper left corner there, on a scale from 0 to `ns`, which
// several lanes share. Returns what it covers. REQUIRES: ns >= timeline.ns,
// ns >= 1.
Rect DrawTimeline(Svg& svg, double left, double top,
                  const transition::Preview& preview, const Places& places,
                  const transition::LaneTimeline& timeline, int64_t ns);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_TIMELINE_CHART_H_
