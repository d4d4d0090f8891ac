// Layout files: a model, a framework and its parallelism as YAML or JSON, read
// to a Layout. docs/design/0002-space.md has the format:
//
//   model: llama2-7b                # or {huggingface: config.json}, or numbers
//   framework: megatron             # megatron, torch, deepspeed
//   version: "0.16.1"               # of the framework
//   world: 16
//   parallelism: {tp: 2, pp: 4}
//   states: bf16-mixed              # or [param:bfloat16, main:float32, ...]
//
// A listing (api/listing) is a layout file too: what a live job dumped.
#ifndef API_LAYOUT_FILE_LAYOUT_FILE_H_
#define API_LAYOUT_FILE_LAYOUT_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/layout_file/loaded_layout.h"
#include "api/model/parse_model.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

// Returns kInvalidArgument with line and path of the field, its value and what
// would do ("line 4: world: 12 is ..."), or what `read` returns, which gives
// the text of another file that it names.
absl::StatusOr<LoadedLayout> LoadLayout(absl::string_view text, ReadText read);

// The same of the file's tree, so without lines.
absl::StatusOr<LoadedLayout> LoadLayoutTree(const nlohmann::json& root,
                                            ReadText read);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_LAYOUT_FILE_H_
