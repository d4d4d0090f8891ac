// Cells: what a picture shows of each rank and row: which part the rank holds,
// as a number shared by all ranks that hold the same, and where in the tensor
// that is.
#ifndef TOOLS_CLI_PICTURE_CELLS_H_
#define TOOLS_CLI_PICTURE_CELLS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/cli/picture/picture_rows.h"
#include "tools/cli/picture/svg.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {

struct Cell {
  int part = -1;       // -1: nothing; equal on ranks that hold the same
  bool whole = false;  // all of the row's tensors
  // In a row of one tensor: the boxes in a square of side 1, dim 0 downwards.
  std::vector<Rect> boxes;
  std::string text;  // the boxes, for a tooltip; as `boxes`
};

struct CellRow {
  std::vector<Cell> cells;  // by rank, as given
  int parts = 0;            // different ones, in the order of what they hold
};

// One row of cells per row of the picture. O(what the ranks hold).
std::vector<CellRow> CellsOf(const vps::Layout& layout,
                             absl::Span<const PictureRow> rows,
                             absl::Span<const int> ranks);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_CELLS_H_
