#include "tools/cli/picture/picture.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cli/picture/cells.h"
#include "tools/cli/picture/columns.h"
#include "tools/cli/picture/palette.h"
#include "tools/cli/picture/picture_rows.h"
#include "tools/cli/picture/svg.h"
#include "tools/cli/shown_axes.h"
#include "tools/cli/text_table.h"

namespace dynatrain::cli {
namespace {

constexpr double kMargin = 16;
constexpr double kTitleHeight = 46;
constexpr double kLegendHeight = 44;
constexpr double kBlockGap = 5;
// Cells that are smaller have no room for a tensor's outline.
constexpr double kLeastOutline = 7;

class Drawing {
 public:
  Drawing(const api::LoadedLayout& loaded, absl::string_view state,
          absl::Span<const int> ranks, absl::Span<const int> tensors)
      : loaded_(loaded),
        state_(state),
        ranks_(ranks),
        rows_(PictureRows(loaded.layout, tensors)),
        columns_(loaded.layout, ranks) {
    const int count = static_cast<int>(rows_.size());
    row_height_ = std::clamp(1000.0 / std::max(count, 1), 10.0, 24.0);
    size_t longest = 0, longest_block = 0;
    for (const PictureRow& row : rows_) {
      longest = std::max(longest, row.label.size());
      longest_block = std::max(longest_block, row.block.size());
    }
    block_width_ = longest_block * 5.6 + (longest_block > 0 ? 14 : 0);
    label_width_ = longest * 5.6 + 14;
    // Where blocks are single rows there is nothing to hold together.
    for (int row = 1; row < count; ++row) {
      const bool same = rows_[row].block == rows_[row - 1].block;
      if (same && !rows_[row].block.empty()) block_gap_ = kBlockGap;
    }
    left_ = kMargin + block_width_ + label_width_;
    top_ = kMargin + kTitleHeight + columns_.header_height();
  }

  std::string Draw() && {
    columns_.DrawHeader(svg_, left_, top_ - 2);
    const std::vector<CellRow> cells = CellsOf(loaded_.layout, rows_, ranks_);
    double y = top_;
    for (int row = 0; row < rows_.size(); ++row) {
      if (row > 0 && rows_[row].block != rows_[row - 1].block) y += block_gap_;
      row_tops_.push_back(y);
      DrawRow(row, cells[row], y);
      y += row_height_;
    }
    svg_.Flush();
    DrawLabels();
    const double width = left_ + std::max(columns_.width(), 480.0) + kMargin;
    DrawTitle();
    DrawLegend(y + 14);
    return std::move(svg_).Document(width, y + 14 + kLegendHeight);
  }

 private:
  bool outlined() const { return columns_.cell_width() >= kLeastOutline; }

  void DrawRow(int row, const CellRow& cells, double y) {
    const double gap = columns_.cell_width() >= 4 ? 1 : 0;
    const double high = row_height_ - 1;
    for (int i = 0; i < cells.cells.size(); ++i) {
      const Cell& cell = cells.cells[i];
      if (cell.part < 0) continue;
      const Rect frame = {left_ + columns_.x(i), y, columns_.cell_width() - gap,
                          high};
      const std::string colour =
          cell.whole ? kWhole : PartColour(cell.part, cells.parts);
      if (!outlined() || rows_[row].tensors.size() > 1) {
        svg_.Collect(frame, colour);
        continue;
      }
      DrawBoxes(row, i, cell, frame, colour);
    }
  }

  void DrawBoxes(int row, int column, const Cell& cell, const Rect& frame,
                 const std::string& colour) {
    const std::string& name =
        loaded_.layout.tensor(rows_[row].tensors[0]).name();
    svg_.Open(
        absl::StrCat("rank ", ranks_[column], ": ", name, " ", cell.text));
    svg_.Add(frame, "#f1f3f5");
    for (const Rect& box : cell.boxes) {
      // A sliver is still to be seen.
      const double width = std::max(box.width * frame.width, 0.75);
      const double height = std::max(box.height * frame.height, 0.75);
      svg_.Collect({std::min(frame.x + box.x * frame.width,
                             frame.x + frame.width - width),
                    std::min(frame.y + box.y * frame.height,
                             frame.y + frame.height - height),
                    width, height},
                   colour);
    }
    svg_.Close();
  }

  // Names of rows, and of blocks beside their first row.
  void DrawLabels() {
    for (int row = 0; row < rows_.size(); ++row) {
      const double y = row_tops_[row];
      const bool begins = row == 0 || rows_[row].block != rows_[row - 1].block;
      const double base = y + row_height_ / 2 + 3.5;
      if (begins && !rows_[row].block.empty()) {
        svg_.Text(kMargin, base, rows_[row].block,
                  {.size = 10, .fill = kInk, .bold = true});
      }
      svg_.Text(left_ - 8, base, rows_[row].label,
                {.size = 10, .anchor = "end", .fill = kInk});
    }
  }

  void DrawTitle() {
    const std::string model = loaded_.model.empty() ? "" : loaded_.model + ", ";
    svg_.Text(
        kMargin, kMargin + 14,
        absl::StrCat(model, loaded_.framework, " ", loaded_.framework_version,
                     ", ", Grouped(loaded_.layout.world_size()),
                     " ranks: who holds which part of ", state_),
        {.size = 15, .fill = kInk, .bold = true});
    svg_.Text(kMargin, kMargin + 32, MeshesText(loaded_.layout),
              {.size = 11, .fill = kFaintInk});
  }

  void DrawLegend(double y) {
    constexpr int kSteps = 24;
    constexpr double kWidth = 144;
    const auto text = [&](double x, absl::string_view what) {
      svg_.Text(x, y + 11, what, {.size = 11, .fill = kInk});
    };
    double x = left_;
    text(x, "in each row: first part");
    x += 122;
    for (int i = 0; i < kSteps; ++i) {
      svg_.Add({x + i * kWidth / kSteps, y, kWidth / kSteps + 0.5, 14},
               PartColour(i, kSteps));
    }
    x += kWidth + 8;
    text(x, "last part");
    x += 62;
    svg_.Add({x, y, 14, 14}, kWhole);
    text(x + 20, "all of it");
    svg_.Text(left_, y + 28,
              "Ranks of one colour in a row hold the same; nothing where there "
              "is no mark.",
              {.size = 11, .fill = kFaintInk});
  }

  const api::LoadedLayout& loaded_;
  const absl::string_view state_;
  const absl::Span<const int> ranks_;
  const std::vector<PictureRow> rows_;
  const Columns columns_;
  double row_height_ = 0;
  double block_gap_ = 1;
  double block_width_ = 0;
  double label_width_ = 0;
  double left_ = 0;  // of the first column
  double top_ = 0;   // of the first row
  std::vector<double> row_tops_;
  Svg svg_;
};

}  // namespace

std::string Picture(const api::LoadedLayout& loaded, absl::string_view state,
                    absl::Span<const int> ranks,
                    absl::Span<const int> tensors) {
  return Drawing(loaded, state, ranks, tensors).Draw();
}

}  // namespace dynatrain::cli
