#include "vps/geometry/box.h"

#include <algorithm>
#include <cassert>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps {
namespace {

absl::Status Validate(absl::Span<const int64_t> origin,
                      absl::Span<const int64_t> shape) {
  if (shape.size() > kMaxDims) {
    return absl::InvalidArgumentError(absl::StrCat(
        "box: ", shape.size(), " dims; at most ", kMaxDims, " are supported"));
  }
  if (origin.size() != shape.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("box: origin has ", origin.size(), " dims, shape has ",
                     shape.size(), "; they must be as many"));
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (origin[dim] < 0 || shape[dim] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "box: dim ", dim, " has origin ", origin[dim], " and extent ",
          shape[dim], "; neither may be negative"));
    }
    if (!CheckedAdd(origin[dim], shape[dim]).has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("box: dim ", dim, " ends at ", origin[dim], " + ",
                       shape[dim], ", beyond 63 bits"));
    }
  }
  if (!CheckedVolume(shape).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("box: shape [", absl::StrJoin(shape, ", "),
                     "] has more elements than fit 63 bits"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Box> Box::Create(absl::Span<const int64_t> origin,
                                absl::Span<const int64_t> shape) {
  if (absl::Status status = Validate(origin, shape); !status.ok()) {
    return status;
  }
  Box box;
  box.dims_ = static_cast<int>(shape.size());
  std::copy(origin.begin(), origin.end(), box.origin_.begin());
  std::copy(shape.begin(), shape.end(), box.shape_.begin());
  return box;
}

absl::StatusOr<Box> Box::Whole(absl::Span<const int64_t> shape) {
  static constexpr int64_t kOrigin[kMaxDims] = {};
  if (shape.size() > kMaxDims) return Create({}, shape);
  return Create(absl::MakeConstSpan(kOrigin, shape.size()), shape);
}

int64_t Box::num_elements() const {
  int64_t product = 1;
  for (int dim = 0; dim < dims_; ++dim) {
    if (shape_[dim] == 0) return 0;
    product *= shape_[dim];
  }
  return product;
}

bool Box::empty() const {
  for (int dim = 0; dim < dims_; ++dim) {
    if (shape_[dim] == 0) return true;
  }
  return false;
}

bool Box::Contains(const Box& other) const {
  if (dims_ != other.dims_) return false;
  if (other.empty()) return true;
  for (int dim = 0; dim < dims_; ++dim) {
    const Interval mine = interval(dim);
    const Interval theirs = other.interval(dim);
    if (theirs.begin < mine.begin || theirs.end > mine.end) return false;
  }
  return true;
}

Box Box::With(int dim, Interval interval) const {
  assert(dim < dims_ && interval.begin >= origin_[dim] &&
         interval.end <= origin_[dim] + shape_[dim]);
  Box box = *this;
  box.origin_[dim] = interval.begin;
  box.shape_[dim] = interval.size();
  return box;
}

Box Box::RelativeTo(absl::Span<const int64_t> origin) const {
  assert(static_cast<int>(origin.size()) == dims_);
  Box box = *this;
  for (int dim = 0; dim < dims_; ++dim) box.origin_[dim] -= origin[dim];
  return box;
}

std::string Box::DebugString() const {
  std::string text = "[";
  for (int dim = 0; dim < dims_; ++dim) {
    absl::StrAppend(&text, dim == 0 ? "" : ", ", origin_[dim], ":",
                    origin_[dim] + shape_[dim]);
  }
  return text + "]";
}

std::strong_ordering operator<=>(const Box& a, const Box& b) {
  if (auto order = a.dims_ <=> b.dims_; order != 0) return order;
  if (auto order = a.origin_ <=> b.origin_; order != 0) return order;
  return a.shape_ <=> b.shape_;
}

std::optional<Box> Intersect(const Box& a, const Box& b) {
  if (a.dims() != b.dims()) return std::nullopt;
  std::optional<Box> common(std::in_place);
  common->dims_ = a.dims();
  for (int dim = 0; dim < a.dims(); ++dim) {
    // Empty, too, if either is.
    const Interval shared = Intersect(a.interval(dim), b.interval(dim));
    if (shared.empty()) return std::nullopt;
    common->origin_[dim] = shared.begin;
    common->shape_[dim] = shared.size();
  }
  return common;
}

}  // namespace dynatrain::vps
