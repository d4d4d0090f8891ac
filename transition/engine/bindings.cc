#include "transition/engine/bindings.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/layout/layout.h"

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

// The region of the copy in which all of `box` lies.
std::optional<vps::OwnedRegion> RegionWith(const vps::Layout& layout, int rank,
                                           int tensor, int copy,
                                           const vps::Box& box) {
  std::optional<vps::OwnedRegion> found;
  layout.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& region) {
    if (region.copy == copy && region.global.Contains(box)) found = region;
  });
  return found;
}

// Strides of a region in memory, and where its first element lies.
struct Place {
  absl::InlinedVector<int64_t, 4> strides_bytes;
  int64_t offset_bytes = 0;
};

// `region` counts elements of memory without gaps: of a row-major tensor, or of
// a shard, which has one dim. What is bound has strides of its own.
Place PlaceOf(const vps::OwnedRegion& region, absl::Span<const int64_t> shape,
              absl::Span<const int64_t> strides_bytes) {
  Place place;
  if (shape.size() != region.global.dims()) {
    place.offset_bytes = region.offset * strides_bytes[0];
    for (int d = 0; d < region.global.dims(); ++d) {
      place.strides_bytes.push_back(region.strides[d] * strides_bytes[0]);
    }
    return place;
  }
  for (int d = 0; d < region.global.dims(); ++d) {
    // Along a dim of one index a listed region's stride may be anything.
    const int64_t index =
        shape[d] == 1 ? 0 : region.offset / region.strides[d] % shape[d];
    place.offset_bytes += index * strides_bytes[d];
    place.strides_bytes.push_back(strides_bytes[d]);
  }
  return place;
}

}  // namespace

Bindings::Bindings(PlanInput input, int rank, BindingSide side)
    : input_(std::move(input)), rank_(rank), side_(side) {}

std::string Bindings::Describe(int64_t tensor, int copy) const {
  return absl::StrCat(side_ == BindingSide::kSource ? "source" : "target",
                      " tensor ", layout().tensor(tensor).Id(),
                      copy == 0 ? "" : absl::StrCat(" copy ", copy));
}

absl::Status Bindings::Bind(int64_t tensor, int copy, void* data,
                            absl::Span<const int64_t> shape,
                            absl::Span<const int64_t> strides_bytes) {
  if (tensor < 0 || tensor >= layout().num_tensors()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no tensor ",
                                                   tensor, "; the layout has ",
                                                   layout().num_tensors()));
  }
  const auto wrong = [&](const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(tensor, copy), ": ", what...));
  };
  if (copy < 0 || copy >= layout().num_copies(tensor)) {
    return wrong("there are ", layout().num_copies(tensor), " copies");
  }
  const std::optional<vps::LocalShape> own =
      layout().LocalShapeOf(rank_, tensor, copy);
  if (!own.has_value()) return wrong("rank ", rank_, " does not hold it");
  if (shape != absl::MakeConstSpan(*own)) {
    return wrong("local shape is ", ShapeText(shape), ", but rank ", rank_,
                 " holds ", ShapeText(*own));
  }
  if (strides_bytes.size() != shape.size()) {
    return wrong(strides_bytes.size(), " strides for ", shape.size(), " dims");
  }
  const bool empty = absl::c_linear_search(shape, 0);
  if (data == nullptr && !empty) return wrong("the address is null");
  if (side_ == BindingSide::kTarget && !empty &&
      MayOverlap(shape, strides_bytes, layout().tensor(tensor).item_bytes())) {
    return wrong("elements overlap in memory: shape ", ShapeText(shape),
                 ", strides ", ShapeText(strides_bytes), " bytes");
  }
  bound_[{static_cast<int>(tensor), copy}] = {
      static_cast<std::byte*>(data),
      {shape.begin(), shape.end()},
      {strides_bytes.begin(), strides_bytes.end()}};
  return absl::OkStatus();
}

absl::StatusOr<RegionMemory> Bindings::Find(const Route& route) const {
  if (side_ == BindingSide::kTarget) {
    return Find(route.tensor, route.target_copy, route.region, route.tensor);
  }
  return Find(input_.SourceTensor(route.tensor), route.source_copy,
              route.region, route.tensor);
}

absl::StatusOr<RegionMemory> Bindings::Find(const ZeroRegion& zero) const {
  return Find(zero.tensor, zero.copy, zero.region, zero.tensor);
}

absl::StatusOr<RegionMemory> Bindings::Find(int tensor, int copy,
                                            const vps::Box& region,
                                            int digest_tensor) const {
  const auto it = bound_.find({tensor, copy});
  if (it == bound_.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(tensor, copy), " is not bound"));
  }
  const Bound& bound = it->second;
  const std::optional<vps::OwnedRegion> own =
      RegionWith(layout(), rank_, tensor, copy, region);
  if (!own.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(tensor, copy), ": rank ", rank_,
                     " does not hold ", region.DebugString()));
  }
  const Place place = PlaceOf(*own, bound.shape, bound.strides_bytes);
  const vps::Box within = region.RelativeTo(own->global.origin());
  const int64_t item_bytes = layout().tensor(tensor).item_bytes();
  vps::StridedRun run = vps::RunOf(within, place.strides_bytes, item_bytes);
  run.offset_bytes += place.offset_bytes;
  int64_t first_offset_bytes = place.offset_bytes;
  for (int d = 0; d < within.dims(); ++d) {
    first_offset_bytes += within.origin(d) * place.strides_bytes[d];
  }
  return RegionMemory{
      bound.data, std::move(run), first_offset_bytes,
      ElementDigest::Create(
          region, layout().tensor(tensor).shape(), place.strides_bytes,
          item_bytes, static_cast<uint64_t>(digest_tensor) * kTensorFactor)};
}

}  // namespace dynatrain::transition
