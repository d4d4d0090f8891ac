#include "tools/cli/picture/heat_map.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/cli/picture/palette.h"
#include "tools/cli/text_table.h"

namespace dynatrain::cli {
namespace {

constexpr double kMark = 5;    // a role's
constexpr double kSums = 84;   // the longest bar of a sum
constexpr double kTitle = 34;  // title and name of the columns
constexpr double kCharacter = 5.6;
// Squares with more than so many cells have no tooltips: their text would be
// most of the file.
constexpr int kMostTooltips = 32 * 32;

// Every how many labels one is written, so that they are `room` apart: 1, 2, 4,
// ..., as ranks and nodes are counted.
int LabelStep(double cell, double room) {
  int step = 1;
  while (step * cell < room) step *= 2;
  return step;
}

class HeatMap {
 public:
  HeatMap(Svg& svg, double left, double top, const HeatGrid& grid,
          const HeatMapStyle& style)
      : svg_(svg), grid_(grid), style_(style), left_(left), top_(top) {
    size_t longest = 0;
    for (const HeatGroup& group : grid.groups) {
      longest = std::max(longest, group.label.size());
    }
    label_width_ = longest * kCharacter + 8;
    cell_ = std::clamp(style.most_width / std::max(grid.size(), 1), 4.0, 26.0);
    const double mark = style.sums ? kMark + 2 : 0;
    x_ = left + 18 + label_width_ + mark;
    y_ = top + kTitle + 14 + mark;
    side_ = cell_ * grid.size();
    for (const HeatCell& cell : grid.cells) {
      most_inside_ = std::max(most_inside_, cell.inside_bytes);
      most_between_ = std::max(most_between_, cell.between_bytes);
    }
  }

  Rect Draw() {
    svg_.Text(left_, top_ + 12, style_.title,
              {.size = 12, .fill = kInk, .bold = true});
    svg_.Text(left_, top_ + 27,
              absl::StrCat("rows send, columns receive; ", grid_.unit,
                           grid_.unit == "nodes" ? "" : "s", " by number"),
              {.size = 10, .fill = kFaintInk});
    svg_.Add({x_, y_, side_, side_}, "#f1f3f5");
    DrawLabels();
    DrawCells();
    if (style_.sums) DrawSums();
    const double legend =
        DrawLegend(y_ + side_ + (style_.sums ? kSums + 34 : 14));
    return {
        left_, top_,
        x_ - left_ + std::max(side_ + (style_.sums ? kSums + 70 : 0), 250.0),
        legend - top_};
  }

 private:
  double At(int index) const { return index * cell_; }

  void DrawLabels() {
    const int rows = LabelStep(cell_, 11);
    const int columns = LabelStep(cell_, label_width_);
    for (int i = 0; i < grid_.size(); ++i) {
      const HeatGroup& group = grid_.groups[i];
      if (style_.sums) {
        svg_.Collect({x_ - kMark - 2, y_ + At(i), kMark, cell_},
                     RoleColour(group.role));
        svg_.Collect({x_ + At(i), y_ - kMark - 2, cell_, kMark},
                     RoleColour(group.role));
      }
      const double mark = style_.sums ? kMark + 2 : 0;
      if (i % rows == 0) {
        svg_.Text(x_ - mark - 4, y_ + At(i) + cell_ / 2 + 3.5, group.label,
                  {.size = 10, .anchor = "end", .fill = kInk});
      }
      if (i % columns == 0) {
        svg_.Text(x_ + At(i) + cell_ / 2, y_ - mark - 3, group.label,
                  {.size = 10, .anchor = "middle", .fill = kInk});
      }
    }
    svg_.Flush();
  }

  void DrawCells() {
    const bool tooltips = static_cast<int>(grid_.cells.size()) <= kMostTooltips;
    const double gap = cell_ >= 8 ? 1 : 0;
    for (int sender = 0; sender < grid_.size(); ++sender) {
      for (int receiver = 0; receiver < grid_.size(); ++receiver) {
        const HeatCell& cell = grid_.at(sender, receiver);
        const int64_t bytes = cell.inside_bytes + cell.between_bytes;
        if (bytes == 0) continue;
        if (tooltips) {
          svg_.Open(absl::StrCat(grid_.unit, " ", grid_.groups[sender].label,
                                 " to ", grid_.groups[receiver].label, ": ",
                                 BytesText(bytes)));
        }
        DrawCell(cell, {x_ + At(receiver), y_ + At(sender), cell_ - gap,
                        cell_ - gap});
        if (tooltips) svg_.Close();
      }
    }
    svg_.Flush();
    for (int i = 1; i < grid_.size(); ++i) {
      if (!grid_.groups[i].begins_node) continue;
      svg_.Collect({x_ + At(i) - 1, y_, 1, side_}, "#495057");
      svg_.Collect({x_, y_ + At(i) - 1, side_, 1}, "#495057");
    }
    svg_.Flush();
  }

  // A group of nodes may send to itself in both ways: left and right half.
  void DrawCell(const HeatCell& cell, const Rect& frame) {
    const std::string inside =
        HeatColour(Heat::kInside, cell.inside_bytes, most_inside_);
    const std::string between =
        HeatColour(Heat::kBetween, cell.between_bytes, most_between_);
    if (cell.between_bytes == 0) return svg_.Collect(frame, inside);
    if (cell.inside_bytes == 0) return svg_.Collect(frame, between);
    const double half = frame.width / 2;
    svg_.Collect({frame.x, frame.y, half, frame.height}, between);
    svg_.Collect({frame.x + half, frame.y, half, frame.height}, inside);
  }

  // Bars right of rows and below columns.
  void DrawSums() {
    int64_t most = 1;
    for (const HeatGroup& group : grid_.groups) {
      most = std::max({most, group.inside_out_bytes + group.between_out_bytes,
                       group.inside_in_bytes + group.between_in_bytes});
    }
    const double unit = kSums / static_cast<double>(most);
    const double thick = std::max(cell_ - 1, 1.0);
    const std::string inside = HeatColour(Heat::kInside, 2, 3);
    const std::string between = HeatColour(Heat::kBetween, 2, 3);
    for (int i = 0; i < grid_.size(); ++i) {
      const HeatGroup& group = grid_.groups[i];
      const double right = x_ + side_ + 6, below = y_ + side_ + 6;
      const double out = group.between_out_bytes * unit;
      svg_.Collect({right, y_ + At(i), out, thick}, between);
      svg_.Collect(
          {right + out, y_ + At(i), group.inside_out_bytes * unit, thick},
          inside);
      const double in = group.between_in_bytes * unit;
      svg_.Collect({x_ + At(i), below, thick, in}, between);
      svg_.Collect(
          {x_ + At(i), below + in, thick, group.inside_in_bytes * unit},
          inside);
    }
    svg_.Flush();
    svg_.Text(x_ + side_ + 6, y_ - 4,
              absl::StrCat("sends \u2264 ", BytesText(most)),
              {.size = 10, .fill = kFaintInk});
    svg_.Text(x_, y_ + side_ + kSums + 18,
              absl::StrCat("receives \u2264 ", BytesText(most)),
              {.size = 10, .fill = kFaintInk});
  }

  // Returns where it ends.
  double DrawLegend(double y) {
    const auto scale = [&](Heat heat, int64_t most, absl::string_view what) {
      if (most == 0) return;
      constexpr int kSteps = 24;
      for (int i = 0; i < kSteps; ++i) {
        svg_.Add({x_ + i * 4.0, y, 4.5, 10}, HeatColour(heat, i + 1, kSteps));
      }
      svg_.Text(x_ + kSteps * 4 + 8, y + 9,
                absl::StrCat("0 to ", BytesText(most), " ", what),
                {.size = 10, .fill = kInk});
      y += 16;
    };
    scale(Heat::kBetween, most_between_, "between nodes");
    scale(Heat::kInside, most_inside_, "inside a node");
    return y;
  }

  Svg& svg_;
  const HeatGrid& grid_;
  const HeatMapStyle& style_;
  const double left_, top_;
  double label_width_ = 0;
  double cell_ = 0;
  double x_ = 0, y_ = 0;  // of the square
  double side_ = 0;
  int64_t most_inside_ = 0, most_between_ = 0;
};

}  // namespace

Rect DrawHeatMap(Svg& svg, double left, double top, const HeatGrid& grid,
                 const HeatMapStyle& style) {
  return HeatMap(svg, left, top, grid, style).Draw();
}

}  // namespace dynatrain::cli
