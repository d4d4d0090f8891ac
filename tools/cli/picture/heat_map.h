// The heat map: a square of senders (rows) and receivers (columns), coloured by
// bytes, with a bar per row and column for all that it sends and receives.
#ifndef TOOLS_CLI_PICTURE_HEAT_MAP_H_
#define TOOLS_CLI_PICTURE_HEAT_MAP_H_

#include "absl/strings/string_view.h"
#include "tools/cli/picture/heat_grid.h"
#include "tools/cli/picture/svg.h"

namespace dynatrain::cli {

struct HeatMapStyle {
  absl::string_view title;
  double most_width = 760;  // of the square
  bool sums = true;         // bars of what each sends and receives, marks
};

// Draws it with its upper left corner there. Returns what it covers.
Rect DrawHeatMap(Svg& svg, double left, double top, const HeatGrid& grid,
                 const HeatMapStyle& style);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_HEAT_MAP_H_
