#include "tools/cli/picture/columns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/cli/picture/palette.h"
#include "tools/cli/shown_axes.h"

namespace dynatrain::cli {
namespace {

using vps::Layout;
using vps::Mesh;

constexpr double kRowHeight = 16;
constexpr double kRanksHeight = 14;
constexpr double kTextSize = 10;
// A digit at that size.
constexpr double kDigitWidth = 6;
// Narrower spans can't be told apart.
constexpr double kLeastSpan = 3;

double TextWidth(absl::string_view text) { return text.size() * kDigitWidth; }

}  // namespace

Columns::Columns(const Layout& layout, absl::Span<const int> ranks)
    : ranks_(ranks.begin(), ranks.end()) {
  const int count = static_cast<int>(ranks_.size());
  cell_width_ = std::clamp(1000.0 / std::max(count, 1), 1.0, 34.0);
  for (const ShownAxis& axis : ShownAxes(layout)) {
    AddHeaderRow(layout, axis.mesh, axis.axis);
  }
  // Gaps where the slowest axis changes, smaller ones where the second does.
  const double gaps[] = {std::clamp(cell_width_ / 2, 4.0, 10.0),
                         std::clamp(cell_width_ / 5, 0.0, 4.0)};
  std::vector<double> before(count);
  for (int level = 0; level < 2 && level < rows_.size(); ++level) {
    // A gap at each rank would be no group.
    if (rows_[level].spans.size() == count) break;
    for (const Span& span : rows_[level].spans) {
      if (span.begin > 0) {
        before[span.begin] = std::max(before[span.begin], gaps[level]);
      }
    }
  }
  double x = 0;
  for (int i = 0; i < count; ++i) {
    x += before[i];
    x_.push_back(x);
    x += cell_width_;
  }
  width_ = x;
}

void Columns::AddHeaderRow(const Layout& layout, int mesh_index, int axis) {
  const Mesh& mesh = layout.meshes()[mesh_index];
  HeaderRow row = {mesh.axes()[axis].name, mesh.size(axis), {}};
  for (int i = 0; i < ranks_.size(); ++i) {
    const int coordinate = mesh.Coordinate(ranks_[i], axis);
    bool same = i > 0;
    for (int slower = 0; same && slower <= axis; ++slower) {
      same = mesh.Coordinate(ranks_[i], slower) ==
             mesh.Coordinate(ranks_[i - 1], slower);
    }
    if (!same) row.spans.push_back({i, i, coordinate});
    row.spans.back().end = i + 1;
  }
  rows_.push_back(std::move(row));
}

double Columns::header_height() const {
  return rows_.size() * kRowHeight + kRanksHeight;
}

void Columns::DrawHeader(Svg& svg, double left, double bottom) const {
  double top = bottom - header_height();
  for (const HeaderRow& row : rows_) {
    DrawRow(svg, row, left, top);
    top += kRowHeight;
  }
  DrawRanks(svg, left, bottom);
}

void Columns::DrawRow(Svg& svg, const HeaderRow& row, double left,
                      double top) const {
  const double base = top + kRowHeight - 5;
  double narrowest = width_;
  for (const Span& span : row.spans) {
    narrowest = std::min(narrowest, SpanEnd(span) - x_[span.begin]);
  }
  const double number_width = TextWidth(absl::StrCat(row.size - 1)) + 3;
  const double name_width = TextWidth(row.axis) + kDigitWidth + number_width;
  const bool numbered = number_width <= narrowest;
  svg.Text(left - 8, base,
           numbered ? row.axis : absl::StrCat(row.axis, " 0-", row.size - 1),
           {.size = kTextSize, .anchor = "end", .fill = kInk, .bold = true});
  if (narrowest < kLeastSpan) {
    svg.Add({left, top + 1, width_, kRowHeight - 2}, "#f1f3f5");
    return;
  }
  for (const Span& span : row.spans) {
    const double x = left + x_[span.begin];
    const double width = SpanEnd(span) - x_[span.begin];
    svg.Add({x, top + 1, std::max(width - 1, 1.0), kRowHeight - 2},
            span.coordinate % 2 == 0 ? "#e9ecef" : "#d0d5da");
    if (!numbered) continue;
    svg.Text(x + width / 2, base,
             name_width <= narrowest
                 ? absl::StrCat(row.axis, " ", span.coordinate)
                 : absl::StrCat(span.coordinate),
             {.size = kTextSize, .anchor = "middle", .fill = kInk});
  }
}

void Columns::DrawRanks(Svg& svg, double left, double bottom) const {
  svg.Text(left - 8, bottom - 4, "rank",
           {.size = kTextSize, .anchor = "end", .fill = kFaintInk});
  if (ranks_.empty()) return;
  // Every rank, or every second, fourth, ... as there is room.
  const double widest = TextWidth(absl::StrCat(ranks_.back())) + 4;
  int step = 1;
  while (step * cell_width_ < widest) step *= 2;
  for (int i = 0; i < ranks_.size(); i += step) {
    svg.Text(left + x_[i] + cell_width_ / 2, bottom - 4,
             absl::StrCat(ranks_[i]),
             {.size = kTextSize, .anchor = "middle", .fill = kFaintInk});
  }
}

}  // namespace dynatrain::cli
