// The rows of a picture: tensors, or, where these are too many, what of a layer
// they belong to, or whole layers.
#ifndef TOOLS_CLI_PICTURE_PICTURE_ROWS_H_
#define TOOLS_CLI_PICTURE_PICTURE_ROWS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {

struct PictureRow {
  std::string block;  // "decoder.layers.3"; "" in no layer
  std::string label;  // what of it
  std::vector<int> tensors;
};

// Rows that can be named one below the other on a page.
inline constexpr int kMostPictureRows = 120;

// The finest rows that are at most kMostPictureRows; rows of whole layers
// however many there are.
std::vector<PictureRow> PictureRows(const vps::Layout& layout,
                                    absl::Span<const int> tensors);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_PICTURE_ROWS_H_
