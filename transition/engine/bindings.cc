#include "transition/engine/bindings.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/layout/boxes.h"

namespace dynatrain::transition {
namespace {

// Keeps equal values of two tensors apart in a digest. Any odd constant does.
constexpr uint64_t kTensorFactor = 0xD1B54A32D192ED03;

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// True if two elements may lie at one address: sorted by stride, each dim has
// to step over all that the smaller ones span.
bool MayOverlap(absl::Span<const int64_t> shape,
                absl::Span<const int64_t> strides_bytes, int64_t item_bytes) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, extent
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) dims.emplace_back(std::abs(strides_bytes[d]), shape[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t span_bytes = item_bytes;
  for (const auto& [stride, extent] : dims) {
    if (stride < span_bytes) return true;
    span_bytes += stride * (extent - 1);
  }
  return false;
}

}  // namespace

Bindings::Bindings(vps::Layout layout, int rank, BindingSide side)
    : layout_(std::move(layout)), rank_(rank), side_(side) {}

std::string Bindings::Describe(int64_t tensor) const {
  return absl::StrCat(side_ == BindingSide::kSource ? "source" : "target",
                      " tensor ", layout_.tensor(tensor).Id());
}

absl::Status Bindings::Bind(int64_t tensor, void* data,
                            absl::Span<const int64_t> shape,
                            absl::Span<const int64_t> strides_bytes) {
  if (tensor < 0 || tensor >= layout_.num_tensors()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no tensor ",
                                                   tensor, "; the layout has ",
                                                   layout_.num_tensors()));
  }
  const vps::Box box = vps::LocalBox(layout_, rank_, tensor);
  if (shape != box.shape()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(tensor), ": local shape is ", ShapeText(shape),
                     ", but rank ", rank_, " holds ", ShapeText(box.shape())));
  }
  if (strides_bytes.size() != shape.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(tensor), ": ", strides_bytes.size(),
                     " strides for ", shape.size(), " dims"));
  }
  const int64_t item_bytes = layout_.tensor(tensor).item_bytes();
  if (data == nullptr && !box.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(tensor), ": the address is null"));
  }
  if (side_ == BindingSide::kTarget && !box.empty() &&
      MayOverlap(shape, strides_bytes, item_bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        Describe(tensor), ": elements overlap in memory: shape ",
        ShapeText(shape), ", strides ", ShapeText(strides_bytes), " bytes"));
  }
  bound_[static_cast<int>(tensor)] = {
      static_cast<std::byte*>(data),
      {strides_bytes.begin(), strides_bytes.end()}};
  return absl::OkStatus();
}

absl::StatusOr<RegionMemory> Bindings::Find(int tensor,
                                            const vps::Box& region) const {
  const auto bound = bound_.find(tensor);
  if (bound == bound_.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(tensor), " is not bound"));
  }
  const auto& [data, strides] = bound->second;
  const vps::TensorSpec& spec = layout_.tensor(tensor);
  const vps::Box local =
      region.RelativeTo(vps::LocalBox(layout_, rank_, tensor).origin());
  int64_t first_offset_bytes = 0;
  for (int d = 0; d < local.dims(); ++d) {
    first_offset_bytes += local.origin(d) * strides[d];
  }
  return RegionMemory{
      data, vps::RunOf(local, strides, spec.item_bytes()), first_offset_bytes,
      ElementDigest::Create(region, spec.shape(), strides, spec.item_bytes(),
                            static_cast<uint64_t>(tensor) * kTensorFactor)};
}

}  // namespace dynatrain::transition
