// A Megatron layout from its text, and what is near if it isn't possible.
#ifndef API_LAYOUT_TEXT_MEGATRON_TEXT_H_
#define API_LAYOUT_TEXT_MEGATRON_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "api/layout_file/loaded_layout.h"
#include "api/layout_text/layout_text.h"
#include "api/model/parse_model.h"
#include "nlohmann/json.hpp"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::api {

struct MegatronText {
  nlohmann::json model;   // as the field of a layout file
  nlohmann::json states;  // the same
  // Ranks that there are; a layout needs no more.
  int64_t max_ranks = vps::kMaxWorldSize;
};

// Returns kInvalidArgument with what is wrong and the nearest layouts that are
// possible: "heads 64 is not divisible by tp 7 ...; possible: tp8,pp4,dp4 or
// tp4,pp4,dp4". Or what `read` returns, of files that the model names.
absl::StatusOr<LoadedLayout> LoadLayoutText(const LayoutText& text,
                                            const MegatronText& job,
                                            ReadText read);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_TEXT_MEGATRON_TEXT_H_
