// StateList: all states that the tensors of a job have.
//
//   StateList states = *StateList::Preset("bf16-mixed");
//   StateList own = *StateList::Parse({"param:bfloat16", "main:float32",
//                                      "momentum:float32"});
//
// "param" is there exactly once per tensor; "buffer" always, float32 unless it
// is given, so that no buffer is left behind because nobody named it.
#ifndef VPS_MODEL_STATE_LIST_H_
#define VPS_MODEL_STATE_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/model/dtype.h"
#include "vps/model/model_tensor.h"
#include "vps/model/state_class.h"

namespace dynatrain::vps {

class StateList {
 public:
  // Returns kInvalidArgument naming the state if a tensor would have two of one
  // name, a parameter no "param", or a block or its matrices are ill-formed.
  static absl::StatusOr<StateList> Create(std::vector<StateClass> states);

  // From "name:dtype" each, by OrdinaryState. Returns kInvalidArgument naming
  // the text if it has another form or the dtype is unknown, or as Create.
  static absl::StatusOr<StateList> Parse(absl::Span<const std::string> texts);

  // "fp32": param, exp_avg, exp_avg_sq in float32.
  // "bf16-mixed": param in bfloat16; main, exp_avg, exp_avg_sq in float32.
  // "fp16-mixed": the same with param in float16.
  // "precision-aware": the low half of the float32 master in main, as int16, as
  //   the high half is the bfloat16 param; moments in bfloat16.
  // "fp8": as bf16-mixed, but the param of linear weights is 8-bit codes in
  //   uint8 with one float32 scale_inv per tensor.
  // "fp8-block": the same with one scale_inv per block of 128 x 128.
  // Returns kInvalidArgument with these names for any other.
  static absl::StatusOr<StateList> Preset(absl::string_view name);
  static std::vector<absl::string_view> PresetNames();

  absl::Span<const StateClass> states() const { return states_; }

  // Bytes of all states of the tensor that `placement` places.
  int64_t Bytes(const ModelTensor& tensor, StatePlacement placement) const;

  // "param:bfloat16, main:float32, ...".
  std::string DebugString() const;

  friend bool operator==(const StateList&, const StateList&) = default;

 private:
  explicit StateList(std::vector<StateClass> states)
      : states_(std::move(states)) {}

  std::vector<StateClass> states_;
};

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_STATE_LIST_H_
