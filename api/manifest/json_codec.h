// The manifest as JSON text, the form in which ranks, agents and the operator
// hand it on:
//
//   {"version":1,"tensors":[{"name":"layers.0.weight","state":"param",
//     "dtype":"float32","shape":[8,4],"splits":[{"axis":"tp","dim":0}]}]}
//
// The text is not canonical; compare Manifest::digest(), never texts.
#ifndef API_MANIFEST_JSON_CODEC_H_
#define API_MANIFEST_JSON_CODEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vps/layout/manifest.h"

namespace dynatrain::api {

// Bytes of a text and tensors in it at most: what a rank may make an agent
// hold. A frame on the local socket is no larger.
inline constexpr size_t kMaxManifestBytes = 64 << 20;
inline constexpr size_t kMaxManifestTensors = 1 << 20;

// One line, tensors in the manifest's order.
std::string EncodeManifest(const vps::Manifest& manifest);

// Reads what EncodeManifest writes; tensors may come in any order. Returns
// kInvalidArgument for anything else, naming the tensor (by index and, once
// known, by name) and the field: no JSON, another version, a missing, unknown
// or ill-typed field, above the limits, or what Manifest::Create refuses.
absl::StatusOr<vps::Manifest> DecodeManifest(absl::string_view text);

}  // namespace dynatrain::api

#endif  // API_MANIFEST_JSON_CODEC_H_
