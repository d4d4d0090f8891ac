// Explain: how one element of the space comes to lie where it lies, step by
// step (vps/layout/placement.h), with the arithmetic.
#ifndef TOOLS_CLI_EXPLAIN_H_
#define TOOLS_CLI_EXPLAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/layout_file/layout_file.h"

namespace dynatrain::cli {

struct ElementName {
  std::string tensor;
  std::vector<int64_t> index;
};

// "decoder.layers.3.mlp.linear_fc1.weight[17,5]"; a scalar is "step[]" or
// "step". Returns kInvalidArgument naming the part that is no index.
absl::StatusOr<ElementName> ParseElement(absl::string_view text);

// Returns kInvalidArgument naming the dim if `index` isn't in the tensor.
absl::StatusOr<std::string> Explain(const api::LoadedLayout& loaded, int tensor,
                                    const std::vector<int64_t>& index);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_EXPLAIN_H_
