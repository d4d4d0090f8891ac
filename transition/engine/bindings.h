// Bindings: where what one rank holds lies in this process's memory: its local
// tensors, and its shards of flattened ones, which have one dim. A plan has no
// addresses; a binding gives them to it.
#ifndef TRANSITION_ENGINE_BINDINGS_H_
#define TRANSITION_ENGINE_BINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/device/element_digest.h"
#include "transition/device/run_copy.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/route.h"
#include "vps/geometry/box.h"
#include "vps/geometry/strided_run.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {

enum class BindingSide { kSource, kTarget };

// A region of a tensor in memory.
struct RegionMemory {
  std::byte* base = nullptr;  // of the local tensor
  vps::StridedRun run;
  int64_t first_offset_bytes = 0;  // of the region's first element, from base
  ElementDigest digest;

  RunView view() const { return {base, &run}; }
  int64_t num_bytes() const { return run.num_bytes(); }
  int64_t item_bytes() const {
    return digest.num_elements() == 0 ? 1 : num_bytes() / digest.num_elements();
  }
  // Of elements [begin, begin + count).
  uint64_t Digest(int64_t begin, int64_t count) const {
    return digest.Sum(base + first_offset_bytes, begin, count);
  }
};

class Bindings {
 public:
  // Of `rank` in the source or the target world of a plan.
  Bindings(PlanInput input, int rank, BindingSide side);

  // Binds a copy of a tensor, or binds it anew. `tensor` is its index in that
  // side's layout, `data` the address of its first element. Returns
  // kInvalidArgument, naming the tensor, if there is no such tensor or copy,
  // the shape isn't the rank's own (vps::Layout::LocalShapeOf), or strides are
  // such that two elements of a target would share memory.
  absl::Status Bind(int64_t tensor, int copy, void* data,
                    absl::Span<const int64_t> shape,
                    absl::Span<const int64_t> strides_bytes);

  // Where this side's end of a route lies, or what becomes zero. Returns
  // kFailedPrecondition, naming the tensor, if it isn't bound or the rank
  // doesn't hold it.
  absl::StatusOr<RegionMemory> Find(const Route& route) const;
  absl::StatusOr<RegionMemory> Find(const ZeroRegion& zero) const;

 private:
  struct Bound {
    std::byte* data = nullptr;
    absl::InlinedVector<int64_t, 4> shape;
    absl::InlinedVector<int64_t, 4> strides_bytes;
  };

  const vps::Layout& layout() const {
    return side_ == BindingSide::kSource ? input_.source().layout()
                                         : input_.target().layout();
  }
  std::string Describe(int64_t tensor, int copy) const;
  // `digest_tensor` is the tensor's index in the plan, equal on both sides.
  absl::StatusOr<RegionMemory> Find(int tensor, int copy,
                                    const vps::Box& region,
                                    int digest_tensor) const;

  const PlanInput input_;
  const int rank_;
  const BindingSide side_;
  std::map<std::pair<int, int>, Bound> bound_;  // by tensor and copy
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_BINDINGS_H_
