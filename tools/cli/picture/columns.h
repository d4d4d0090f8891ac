// Columns: where ranks stand in a picture, side by side and grouped by the
// slowest mesh axes, and the header that names their coordinates.
#ifndef TOOLS_CLI_PICTURE_COLUMNS_H_
#define TOOLS_CLI_PICTURE_COLUMNS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/cli/picture/svg.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {

class Columns {
 public:
  Columns(const vps::Layout& layout, absl::Span<const int> ranks);

  // Of a column, from the left edge of the first.
  double x(int column) const { return x_[column]; }
  double cell_width() const { return cell_width_; }
  double width() const { return width_; }

  double header_height() const;
  // Draws the header with its lower left corner at (left, bottom).
  void DrawHeader(Svg& svg, double left, double bottom) const;

 private:
  // Columns [begin, end) with the same coordinate on an axis.
  struct Span {
    int begin;
    int end;
    int coordinate;
  };
  struct HeaderRow {
    std::string axis;
    int size;
    std::vector<Span> spans;
  };

  void AddHeaderRow(const vps::Layout& layout, int mesh, int axis);
  void DrawRow(Svg& svg, const HeaderRow& row, double left, double top) const;
  void DrawRanks(Svg& svg, double left, double bottom) const;
  double SpanEnd(const Span& span) const {
    return x_[span.end - 1] + cell_width_;
  }

  std::vector<int> ranks_;
  double cell_width_ = 1;
  double width_ = 0;
  std::vector<double> x_;
  std::vector<HeaderRow> rows_;
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_COLUMNS_H_
