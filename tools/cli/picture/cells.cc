#include "tools/cli/picture/cells.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "vps/geometry/box.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {
namespace {

using vps::Box;
using vps::OwnedRegion;

// What a rank holds of a row: where it begins, and all of it as a hash. Ranks
// with equal values hold the same (up to chance).
struct Held {
  int tensor = 0;
  int64_t begin = 0;  // row-major, of the first region's first element
  uint64_t hash = 0;
};

int64_t FirstElement(const Box& whole, const Box& box) {
  int64_t position = 0;
  for (int dim = 0; dim < whole.dims(); ++dim) {
    position = position * whole.extent(dim) + box.origin(dim);
  }
  return position;
}

// `box` in a square of side 1 that stands for `whole`. Dims past the second
// aren't shown.
Rect Scaled(const Box& whole, const Box& box) {
  Rect rect = {0, 0, 1, 1};
  if (whole.dims() >= 1 && whole.extent(0) > 0) {
    rect.y = static_cast<double>(box.origin(0)) / whole.extent(0);
    rect.height = static_cast<double>(box.extent(0)) / whole.extent(0);
  }
  if (whole.dims() >= 2 && whole.extent(1) > 0) {
    rect.x = static_cast<double>(box.origin(1)) / whole.extent(1);
    rect.width = static_cast<double>(box.extent(1)) / whole.extent(1);
  }
  return rect;
}

class Collector {
 public:
  Collector(const vps::Layout& layout, absl::Span<const PictureRow> rows,
            int num_ranks)
      : layout_(layout),
        rows_(rows),
        totals_(rows.size()),
        elements_(rows.size()),
        held_(rows.size()),
        result_(rows.size()) {
    for (int row = 0; row < rows.size(); ++row) {
      result_[row].cells.resize(num_ranks);
      held_[row].resize(num_ranks);
      elements_[row].resize(num_ranks);
      for (int tensor : rows[row].tensors) {
        row_of_tensor_[tensor] = row;
        totals_[row] += layout.tensor(tensor).whole().num_elements();
      }
    }
  }

  void Add(int column, const OwnedRegion& region) {
    const auto it = row_of_tensor_.find(region.tensor);
    if (it == row_of_tensor_.end()) return;
    Cell& cell = result_[it->second].cells[column];
    Held& held = held_[it->second][column];
    const Box& whole = layout_.tensor(region.tensor).whole();
    if (cell.part < 0) {
      held.tensor = region.tensor;
      held.begin = FirstElement(whole, region.global);
    }
    cell.part = 0;
    int64_t& elements = elements_[it->second][column];
    elements += region.global.num_elements();
    cell.whole = elements == totals_[it->second];
    held.hash = absl::HashOf(held.hash, region.tensor, region.global);
    if (rows_[it->second].tensors.size() > 1) return;
    cell.boxes.push_back(Scaled(whole, region.global));
    absl::StrAppend(&cell.text, cell.text.empty() ? "" : " ",
                    region.global.DebugString());
  }

  std::vector<CellRow> Take() && {
    for (int row = 0; row < rows_.size(); ++row) Number(row);
    return std::move(result_);
  }

 private:
  // Numbers what ranks hold of a row by where it begins.
  void Number(int row) {
    CellRow& cells = result_[row];
    std::map<std::pair<int, int64_t>, std::vector<uint64_t>> hashes;
    std::map<std::pair<int, int64_t>, int> first_part;
    for (int i = 0; i < cells.cells.size(); ++i) {
      if (cells.cells[i].part < 0) continue;
      const Held& held = held_[row][i];
      std::vector<uint64_t>& known = hashes[{held.tensor, held.begin}];
      // In the order of ranks: hashes differ from run to run.
      if (std::find(known.begin(), known.end(), held.hash) == known.end()) {
        known.push_back(held.hash);
      }
    }
    for (const auto& [begin, known] : hashes) {
      first_part[begin] = cells.parts;
      cells.parts += static_cast<int>(known.size());
    }
    for (int i = 0; i < cells.cells.size(); ++i) {
      if (cells.cells[i].part < 0) continue;
      const Held& held = held_[row][i];
      const std::vector<uint64_t>& known = hashes[{held.tensor, held.begin}];
      cells.cells[i].part =
          first_part[{held.tensor, held.begin}] +
          static_cast<int>(std::find(known.begin(), known.end(), held.hash) -
                           known.begin());
    }
  }

  const vps::Layout& layout_;
  const absl::Span<const PictureRow> rows_;
  absl::flat_hash_map<int, int> row_of_tensor_;
  std::vector<int64_t> totals_;                 // elements, by row
  std::vector<std::vector<int64_t>> elements_;  // held, by row and column
  std::vector<std::vector<Held>> held_;         // by row and column
  std::vector<CellRow> result_;
};

}  // namespace

std::vector<CellRow> CellsOf(const vps::Layout& layout,
                             absl::Span<const PictureRow> rows,
                             absl::Span<const int> ranks) {
  Collector collector(layout, rows, static_cast<int>(ranks.size()));
  for (int column = 0; column < ranks.size(); ++column) {
    layout.ForEachRegion(ranks[column], [&](const OwnedRegion& region) {
      collector.Add(column, region);
    });
  }
  return std::move(collector).Take();
}

}  // namespace dynatrain::cli
