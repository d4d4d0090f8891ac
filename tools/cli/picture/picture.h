// The picture of a layout: a column per rank, grouped by mesh axes; a row per
// tensor, or, where there are too many, per module or layer. In a row, ranks of
// one colour hold the same part; a row of one tensor shows where in it that
// part lies. Legible from one rank to a thousand.
#ifndef TOOLS_CLI_PICTURE_PICTURE_H_
#define TOOLS_CLI_PICTURE_PICTURE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/layout_file/layout_file.h"

namespace dynatrain::cli {

// An SVG document of these tensors, which are all of `state`.
// O(what these ranks hold).
std::string Picture(const api::LoadedLayout& loaded, absl::string_view state,
                    absl::Span<const int> ranks, absl::Span<const int> tensors);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_PICTURE_H_
