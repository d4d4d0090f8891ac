#include "tools/cli/picture/collective_strip.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/picture/collective_levels.h"
#include "tools/cli/picture/palette.h"

namespace dynatrain::cli {
namespace {

using transition::CollectiveTime;

constexpr double kTitle = 22;
constexpr double kBar = 16;
constexpr double kLetter = 5.6;  // of size 10
// What is above is only counted.
constexpr int kMostLevels = 12;

// As much of the name as fits.
std::string Fitting(const std::string& name, double width) {
  const auto letters =
      static_cast<size_t>(std::max(0.0, (width - 6) / kLetter));
  if (name.size() <= letters) return name;
  // "broadcast 12 of 4.2 GB among 8 ranks": at least its number.
  const size_t number = name.find(" of ");
  return number <= letters ? name.substr(0, number) : "";
}

}  // namespace

Rect DrawCollectives(Svg& svg, double left, double top,
                     const std::vector<CollectiveTime>& collectives,
                     int64_t ns) {
  const std::vector<int> levels = LevelsOf(collectives);
  const int most = *std::max_element(levels.begin(), levels.end()) + 1;
  const int drawn = std::min(most, kMostLevels);
  const auto above = std::count_if(levels.begin(), levels.end(), [](int level) {
    return level >= kMostLevels;
  });
  std::string title =
      absl::StrCat("Collectives: ", collectives.size(),
                   collectives.size() == 1 ? "" : " of them",
                   "; what ranks pass on is drawn below like all they send");
  if (above > 0) absl::StrAppend(&title, "; ", above, " more beside these");
  svg.Text(left, top + 12, title, {.size = 12, .fill = kInk, .bold = true});
  const double x = left + kTimeLabelWidth;
  const double y = top + kTitle;
  for (size_t i = 0; i < collectives.size(); ++i) {
    if (levels[i] >= kMostLevels) continue;
    const CollectiveTime& it = collectives[i];
    const auto at = [&](int64_t time) {
      return x +
             static_cast<double>(time) / static_cast<double>(ns) * kTimeWidth;
    };
    const double width = std::max(at(it.end) - at(it.begin), 0.6);
    svg.Open(absl::StrFormat("%s, %.4g to %.4g ms", it.name, it.begin / 1e6,
                             it.end / 1e6));
    svg.Add({at(it.begin), y + levels[i] * kBar,
             width > 3 ? width - 0.5 : width, kBar - 2},
            "#d0bfff");
    svg.Text(at(it.begin) + 3, y + levels[i] * kBar + 11,
             Fitting(it.name, width), {.size = 10, .fill = kInk});
    svg.Close();
  }
  return {left, top, kTimeLabelWidth + kTimeWidth, kTitle + drawn * kBar};
}

}  // namespace dynatrain::cli
