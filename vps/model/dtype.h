// Element types by torch's names. The space moves bytes and never computes
// with them, so a dtype is a name and a size.
#ifndef VPS_MODEL_DTYPE_H_
#define VPS_MODEL_DTYPE_H_

#include <cstdint>
#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::vps {

// The numbers are part of manifest digests: never renumber, append.
enum class Dtype : uint8_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kBfloat16 = 3,
  kFloat8E4m3fn = 4,
  kFloat8E4m3fnuz = 5,
  kFloat8E5m2 = 6,
  kFloat8E5m2fnuz = 7,
  kFloat8E8m0fnu = 8,
  kInt8 = 9,
  kInt16 = 10,
  kInt32 = 11,
  kInt64 = 12,
  kUint8 = 13,
  kUint16 = 14,
  kUint32 = 15,
  kUint64 = 16,
  kBool = 17,
  kComplex32 = 18,
  kComplex64 = 19,
  kComplex128 = 20,
};

// "bfloat16" -> kBfloat16. Returns kInvalidArgument listing the known names for
// any other; "torch.float32" is one of those: leave the prefix out.
absl::StatusOr<Dtype> ParseDtype(absl::string_view name);

absl::string_view DtypeName(Dtype dtype);

// Bytes of one element.
int64_t ItemBytes(Dtype dtype);

inline std::ostream& operator<<(std::ostream& out, Dtype dtype) {
  return out << DtypeName(dtype);
}

}  // namespace dynatrain::vps

#endif  // VPS_MODEL_DTYPE_H_
