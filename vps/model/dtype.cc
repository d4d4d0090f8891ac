#include "vps/model/dtype.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::vps {
namespace {

struct Row {
  absl::string_view name;
  int64_t item_bytes;
};

// In the order of the enum's numbers.
constexpr Row kRows[] = {
    {"float32", 4},     {"float64", 8},         {"float16", 2},
    {"bfloat16", 2},    {"float8_e4m3fn", 1},   {"float8_e4m3fnuz", 1},
    {"float8_e5m2", 1}, {"float8_e5m2fnuz", 1}, {"float8_e8m0fnu", 1},
    {"int8", 1},        {"int16", 2},           {"int32", 4},
    {"int64", 8},       {"uint8", 1},           {"uint16", 2},
    {"uint32", 4},      {"uint64", 8},          {"bool", 1},
    {"complex32", 4},   {"complex64", 8},       {"complex128", 16},
};

const Row& RowOf(Dtype dtype) { return kRows[static_cast<int>(dtype)]; }

}  // namespace

absl::StatusOr<Dtype> ParseDtype(absl::string_view name) {
  std::string known;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].name == name) return static_cast<Dtype>(i);
    absl::StrAppend(&known, i == 0 ? "" : ", ", kRows[i].name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("dtype \"", absl::CHexEscape(name.substr(0, 64)),
                   "\" is unknown; known are ", known));
}

absl::string_view DtypeName(Dtype dtype) { return RowOf(dtype).name; }

int64_t ItemBytes(Dtype dtype) { return RowOf(dtype).item_bytes; }

}  // namespace dynatrain::vps
