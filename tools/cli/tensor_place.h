// Where in a model a tensor is, read from its name, so that it works for any
// framework's names.
#ifndef TOOLS_CLI_TENSOR_PLACE_H_
#define TOOLS_CLI_TENSOR_PLACE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::cli {

// "decoder.layers.3.mlp.experts.7.linear_fc1.weight" is
// {"decoder.layers.3", 3, "mlp.experts", 7, "linear_fc1.weight"};
// "embedding.word_embeddings.weight" is {"", -1, "embedding", -1,
// "word_embeddings.weight"}.
struct TensorPlace {
  std::string block;   // up to the layer's number; "" if it is in no layer
  int layer = -1;      // the first number in the name that is no expert's
  std::string module;  // what of the layer: the first part after it
  int expert = -1;     // the number after "experts"
  std::string rest;

  // What comes after the layer: "mlp.experts.7.linear_fc1.weight".
  std::string InLayer() const;
};

TensorPlace PlaceOf(absl::string_view name);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_TENSOR_PLACE_H_
