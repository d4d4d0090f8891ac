#include "vps/geometry/strided_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynatrain::vps {

int64_t StridedRun::num_runs() const {
  int64_t runs = 1;
  for (const Loop& loop : loops) runs *= loop.count;
  return runs;
}

std::string StridedRun::DebugString() const {
  std::string text = absl::StrCat(offset_bytes, " + ", inner_bytes, " B");
  for (const Loop& loop : loops) {
    absl::StrAppend(&text, " x ", loop.count, " step ", loop.stride_bytes);
  }
  return text;
}

absl::InlinedVector<int64_t, kMaxDims> RowMajorStrides(
    absl::Span<const int64_t> shape, int64_t item_bytes) {
  absl::InlinedVector<int64_t, kMaxDims> strides(shape.size());
  int64_t stride = item_bytes;
  for (int dim = static_cast<int>(shape.size()) - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(1, shape[dim]);
  }
  return strides;
}

StridedRun RunOf(const Box& box, absl::Span<const int64_t> strides_bytes,
                 int64_t item_bytes) {
  StridedRun run;
  if (box.empty()) return run;
  run.inner_bytes = item_bytes;
  // From the innermost dim out; `loops` is built innermost first and turned
  // round at the end.
  for (int dim = box.dims() - 1; dim >= 0; --dim) {
    run.offset_bytes += box.origin(dim) * strides_bytes[dim];
    const StridedRun::Loop loop = {box.extent(dim), strides_bytes[dim]};
    if (loop.count == 1) continue;
    if (run.loops.empty() && loop.stride_bytes == run.inner_bytes) {
      run.inner_bytes *= loop.count;
    } else if (!run.loops.empty() &&
               loop.stride_bytes ==
                   run.loops.back().stride_bytes * run.loops.back().count) {
      run.loops.back().count *= loop.count;
    } else {
      run.loops.push_back(loop);
    }
  }
  std::reverse(run.loops.begin(), run.loops.end());
  return run;
}

StridedRun RunInRowMajor(const Box& box, absl::Span<const int64_t> shape,
                         int64_t item_bytes) {
  return RunOf(box, RowMajorStrides(shape, item_bytes), item_bytes);
}

int64_t FlatIndex(absl::Span<const int64_t> index,
                  absl::Span<const int64_t> shape) {
  int64_t flat = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    flat = flat * shape[dim] + index[dim];
  }
  return flat;
}

}  // namespace dynatrain::vps
