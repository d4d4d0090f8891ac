#include "vps/model/tensor_spec.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps {
namespace {

absl::Status ValidateText(absl::string_view field, absl::string_view text) {
  if (text.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(field, " is empty"));
  }
  if (text.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " \"", absl::CHexEscape(text.substr(0, 64)), "...\" has ",
        text.size(), " bytes; at most ", kMaxNameBytes, " are allowed"));
  }
  for (char c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, " \"", absl::CHexEscape(text.substr(0, 64)),
                       "\" holds a control character"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TensorSpec> TensorSpec::Create(std::string name,
                                              std::string state, Dtype dtype,
                                              absl::Span<const int64_t> shape,
                                              std::optional<int64_t> pad_from) {
  RETURN_IF_ERROR(ValidateText("name", name));
  RETURN_IF_ERROR(ValidateText("state", state),
                  absl::StrCat("tensor \"", name, "\""));
  TensorSpec spec;
  spec.name_ = std::move(name);
  spec.state_ = std::move(state);
  spec.dtype_ = dtype;
  ASSIGN_OR_RETURN(spec.whole_, Box::Whole(shape),
                   absl::StrCat("tensor ", spec.Id(), ": shape"));
  if (!CheckedMultiply(spec.whole_.num_elements(), spec.item_bytes())
           .has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", spec.Id(), ": shape [", absl::StrJoin(shape, ", "), "] of ",
        DtypeName(dtype), " has more bytes than fit 63 bits"));
  }
  if (!pad_from.has_value()) return spec;
  if (shape.empty() || *pad_from < 0 || *pad_from > shape[0]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", spec.Id(), ": pad_from is ", *pad_from,
        shape.empty() ? "; a scalar has no rows"
                      : absl::StrCat("; it lies in 0..", shape[0])));
  }
  spec.pad_from_ = *pad_from;
  return spec;
}

std::string TensorSpec::Id() const { return absl::StrCat(name_, "/", state_); }

std::string TensorSpec::DebugString() const {
  return absl::StrCat(
      Id(), " ", DtypeName(dtype_), " [", absl::StrJoin(shape(), ", "), "]",
      pad_from_ < 0 ? "" : absl::StrCat(" padded from ", pad_from_));
}

}  // namespace dynatrain::vps
