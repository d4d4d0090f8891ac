// The custom layout strings of Megatron (--pipeline-model-parallel-layout):
// "Et*3|(tt|)*29,m|L". 'E' is the embedding, 't' a layer of the decoder, 'm' an
// MTP layer, 'L' the loss, '|' ends a stage, commas mean nothing, "(...)*n" and
// "c*n" repeat.
// Source: core/transformer/pipeline_parallel_layer_layout.py, parse_str_to_list
// and validate_layer_layout (Megatron-Core 0.16.1).
#ifndef VPS_LAYOUT_MEGATRON_PIPELINE_LAYOUT_H_
#define VPS_LAYOUT_MEGATRON_PIPELINE_LAYOUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain::vps::megatron {

// Bytes of a layout string, and symbols once it is expanded, at most.
inline constexpr int kMaxPipelineLayoutBytes = 1 << 16;
inline constexpr int kMaxPipelineLayoutSymbols = 1 << 18;

// The symbols of each stage, chunk by chunk: "Et|tL" -> {"Et", "tL"}. As in
// Megatron, parentheses are expanded first and once, then single symbols:
// "t|*2L" repeats the '|'. Returns kInvalidArgument with the position, from 1,
// of the first symbol that is none ("(tt" is one: a parenthesis without "*n"),
// or if the text is too long.
absl::StatusOr<std::vector<std::string>> ParsePipelineLayout(
    absl::string_view text);

// What Megatron asserts of a layout of `layers` decoder and `mtp_layers` MTP
// layers on `pp` stages: a multiple of pp stages; one E, first, and one L,
// last; all layers, and no decoder layer after an MTP layer; MTP layers
// together in the last chunk of one stage. kInvalidArgument names what is not.
absl::Status CheckPipelineLayout(absl::Span<const std::string> stages, int pp,
                                 int layers, int mtp_layers);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_PIPELINE_LAYOUT_H_
