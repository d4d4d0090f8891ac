#include "tools/cli/picture/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_format.h"

namespace dynatrain::cli {
namespace {

using Rgb = std::array<int, 3>;

// Neighbours differ in hue and, for those who see hues less well, in lightness;
// none is so pale that it is lost on white.
constexpr std::array<Rgb, 9> kStops = {{{54, 79, 199},
                                        {34, 139, 230},
                                        {21, 170, 191},
                                        {18, 184, 134},
                                        {116, 184, 22},
                                        {245, 176, 0},
                                        {240, 101, 24},
                                        {224, 49, 49},
                                        {156, 54, 181}}};

}  // namespace

std::string PartColour(int index, int count) {
  // The middles of the parts, so that two parts are no extremes.
  const double place = (index + 0.5) / std::max(count, 1);
  const double along = place * (kStops.size() - 1);
  const int stop = std::min<int>(static_cast<int>(along), kStops.size() - 2);
  const double rest = along - stop;
  Rgb mixed;
  for (int i = 0; i < 3; ++i) {
    mixed[i] = static_cast<int>(std::lround(
        kStops[stop][i] + rest * (kStops[stop + 1][i] - kStops[stop][i])));
  }
  return absl::StrFormat("#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
}

}  // namespace dynatrain::cli
