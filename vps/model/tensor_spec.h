// TensorSpec: one tensor of the job as it is in the parameter space: whole,
// whatever the layout.
#ifndef VPS_MODEL_TENSOR_SPEC_H_
#define VPS_MODEL_TENSOR_SPEC_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/geometry/box.h"
#include "vps/model/dtype.h"

namespace dynatrain::vps {

// Bytes of a name or a state at most.
inline constexpr size_t kMaxNameBytes = 1024;

class TensorSpec {
 public:
  // `name` is the fully qualified name, e.g. "layers.3.mlp.weight"; `state` is
  // "param", "buffer" or the optimizer's key ("exp_avg", "step", ...). Returns
  // kInvalidArgument naming the field if name or state is empty, too long or
  // holds a control character, if there are more than kMaxDims dims, an extent
  // is negative, the bytes do not fit 63 bits, or `pad_from` is no row of the
  // tensor nor its number of rows.
  static absl::StatusOr<TensorSpec> Create(
      std::string name, std::string state, Dtype dtype,
      absl::Span<const int64_t> shape,
      std::optional<int64_t> pad_from = std::nullopt);

  const std::string& name() const { return name_; }
  const std::string& state() const { return state_; }
  Dtype dtype() const { return dtype_; }
  absl::Span<const int64_t> shape() const { return whole_.shape(); }
  // All elements: origin 0.
  const Box& whole() const { return whole_; }
  // Rows of dim 0 from there on are padding that a layout chose (a vocabulary
  // that is padded to a multiple of its tensor parallelism). Two layouts of one
  // job may differ in how many there are. nullopt for nearly all tensors.
  std::optional<int64_t> pad_from() const {
    if (pad_from_ < 0) return std::nullopt;
    return pad_from_;
  }
  int64_t item_bytes() const { return ItemBytes(dtype_); }
  int64_t num_bytes() const { return whole_.num_elements() * item_bytes(); }

  // "layers.3.mlp.weight/exp_avg".
  std::string Id() const;
  // "layers.3.mlp.weight/exp_avg float32 [16, 64]"; with " padded from 13" if
  // it is.
  std::string DebugString() const;

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;

 private:
  TensorSpec() = default;

  std::string name_;
  std::string state_;
  Dtype dtype_ = Dtype::kFloat32;
  Box whole_;
  int64_t pad_from_ = -1;  // -1: no padding
};

inline std::ostream& operator<<(std::ostream& out, const TensorSpec& spec) {
  return out << spec.DebugString();
}

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_TENSOR_SPEC_H_
