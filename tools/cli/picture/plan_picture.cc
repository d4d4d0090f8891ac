#include "tools/cli/picture/plan_picture.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/picture/collective_strip.h"
#include "tools/cli/picture/heat_grid.h"
#include "tools/cli/picture/heat_map.h"
#include "tools/cli/picture/palette.h"
#include "tools/cli/picture/places.h"
#include "tools/cli/picture/svg.h"
#include "tools/cli/picture/timeline_chart.h"
#include "tools/cli/text_table.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {
namespace {

using transition::LaneTimeline;
using transition::Preview;

constexpr double kMargin = 16;
constexpr double kTitleHeight = 62;
constexpr double kGap = 24;

class Drawing {
 public:
  explicit Drawing(const Preview& preview)
      : preview_(preview), places_(PlacesOf(preview)) {}

  std::string Draw(absl::string_view title) && {
    DrawTitle(title);
    const double below = DrawHeatMaps(kMargin + kTitleHeight);
    const double bottom = DrawTimelines(below + kGap);
    return std::move(svg_).Document(width_ + kMargin, bottom + kMargin);
  }

 private:
  void DrawTitle(absl::string_view title) {
    svg_.Text(kMargin, kMargin + 14, title,
              {.size = 15, .fill = kInk, .bold = true});
    svg_.Text(kMargin, kMargin + 32, Summary(),
              {.size = 11, .fill = kFaintInk});
    double x = kMargin;
    for (Role role : {Role::kStays, Role::kLeaves, Role::kJoins}) {
      svg_.Add({x, kMargin + 42, 10, 10}, RoleColour(role));
      const std::string text = absl::StrCat(
          role == Role::kStays
              ? preview_.num_staying
              : (role == Role::kLeaves ? preview_.num_leaving()
                                       : preview_.num_joining()),
          " ",
          role == Role::kStays ? "ranks stay"
                               : (role == Role::kLeaves ? "leave" : "join"));
      svg_.Text(x + 14, kMargin + 51, text, {.size = 11, .fill = kInk});
      x += 30 + text.size() * 6;
    }
    width_ = std::max(width_, kMargin + title.size() * 8.4);
  }

  std::string Summary() const {
    const auto& total = preview_.bytes.total;
    return absl::StrCat(
        preview_.cluster.DebugString(), ": ", BytesText(total.moved_bytes),
        " move, ", BytesText(total.kept_bytes), " stay; transfer ",
        absl::StrFormat("%.4g", preview_.transfer_ns / 1e6), " ms, pause ",
        absl::StrFormat("%.4g", preview_.pause.ns() / 1e6), " ms");
  }

  // Side by side if the first leaves room. Returns where they end.
  double DrawHeatMaps(double top) {
    const HeatGrid grid = GridOf(preview_, places_);
    const Rect first = DrawHeatMap(
        svg_, kMargin, top, grid,
        {.title = absl::StrCat("Who sends what to whom, by ", grid.unit)});
    double bottom = first.y + first.height;
    width_ = std::max(width_, first.x + first.width);
    if (preview_.loads.between_bytes > 0 &&
        preview_.cluster.figures().ranks_per_node > 1) {
      const Rect rails = DrawHeatMap(
          svg_, first.x + first.width + kGap, top, RailGridOf(preview_),
          {.title = "Between nodes, by rail (place in the node)",
           .most_width = 210,
           .sums = false});
      bottom = std::max(bottom, rails.y + rails.height);
      width_ = std::max(width_, rails.x + rails.width);
    }
    return bottom;
  }

  // On one scale.
  double DrawTimelines(double top) {
    const std::vector<LaneTimeline> timelines = TimelinesOf(preview_);
    const int64_t ns = preview_.transfer_ns;
    if (!timelines.front().collectives.empty()) {
      const Rect drawn = DrawCollectives(svg_, kMargin, top,
                                         timelines.front().collectives, ns);
      top += drawn.height + kGap;
    }
    for (const LaneTimeline& timeline : timelines) {
      if (timeline.transfers.empty()) continue;
      const Rect drawn =
          DrawTimeline(svg_, kMargin, top, preview_, places_, timeline, ns);
      top += drawn.height + kGap;
      width_ = std::max(width_, drawn.x + drawn.width + kGap);
    }
    return top;
  }

  const Preview& preview_;
  const Places places_;
  double width_ = 0;
  Svg svg_;
};

}  // namespace

std::string PlanPicture(absl::string_view title, const Preview& preview) {
  return Drawing(preview).Draw(title);
}

}  // namespace dynatrain::cli
