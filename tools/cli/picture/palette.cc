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

constexpr std::array<Rgb, 4> kInsideStops = {
    {{255, 243, 191}, {255, 192, 46}, {217, 95, 14}, {110, 38, 6}}};
constexpr std::array<Rgb, 4> kBetweenStops = {
    {{208, 235, 255}, {77, 171, 247}, {24, 100, 171}, {10, 35, 84}}};

// `along`: 0 is the first stop, 1 the next.
template <size_t n>
std::string Mixed(const std::array<Rgb, n>& stops, double along) {
  const int stop = std::clamp<int>(static_cast<int>(along), 0, n - 2);
  const double rest = along - stop;
  Rgb mixed;
  for (int i = 0; i < 3; ++i) {
    mixed[i] = static_cast<int>(std::lround(
        stops[stop][i] + rest * (stops[stop + 1][i] - stops[stop][i])));
  }
  return absl::StrFormat("#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
}

}  // namespace

std::string PartColour(int index, int count) {
  // The middles of the parts, so that two parts are no extremes.
  const double place = (index + 0.5) / std::max(count, 1);
  return Mixed(kStops, place * (kStops.size() - 1));
}

std::string HeatColour(Heat heat, int64_t bytes, int64_t most) {
  // In steps, so that there are few different colours.
  constexpr int64_t kSteps = 32;
  const double share = static_cast<double>(bytes) /
                       static_cast<double>(std::max<int64_t>(most, 1));
  const double step = std::ceil(share * kSteps) / kSteps;
  const auto& stops = heat == Heat::kInside ? kInsideStops : kBetweenStops;
  return Mixed(stops, step * (stops.size() - 1));
}

}  // namespace dynatrain::cli
