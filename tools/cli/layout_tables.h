// The tables of `dynatrain layout`.
#ifndef TOOLS_CLI_LAYOUT_TABLES_H_
#define TOOLS_CLI_LAYOUT_TABLES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "api/layout_file/layout_file.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {

// What it is, on how many ranks, how large: two or three lines.
std::string HeadText(const api::LoadedLayout& loaded);

// One line per rank: where on the meshes it is, which layers and experts it
// has, elements and bytes of each state. O(what these ranks hold).
std::string RankTable(const vps::Layout& layout, absl::Span<const int> ranks);

// The first rank of each pipeline stage: all of a large world that is not much
// the same.
std::vector<int> FirstRanksOfStages(const vps::Layout& layout);

// What one rank holds of these tensors, or of all: boxes of the whole tensor,
// and where in the rank's memory they begin.
std::string HoldingsTable(const api::LoadedLayout& loaded, int rank,
                          const std::vector<int>* tensors);

// Who holds which part of a tensor. O(parts), at most kMaxParts lines.
inline constexpr int kMaxParts = 64;
std::string OwnersText(const vps::Layout& layout, int tensor);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_LAYOUT_TABLES_H_
