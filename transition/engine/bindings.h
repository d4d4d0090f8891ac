// Bindings: where the local tensors of one rank lie in this process's memory.
// A plan has no addresses; a binding gives them to it.
#ifndef TRANSITION_ENGINE_BINDINGS_H_
#define TRANSITION_ENGINE_BINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transition/device/element_digest.h"
#include "transition/device/run_copy.h"
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
  Bindings(vps::Layout layout, int rank, BindingSide side);

  // Binds a tensor, or binds it anew. `data` is the address of its first
  // element. Returns kInvalidArgument, naming the tensor, if there is no such
  // tensor, the shape isn't the rank's local one, or strides are such that two
  // elements of a target would share memory.
  absl::Status Bind(int64_t tensor, void* data, absl::Span<const int64_t> shape,
                    absl::Span<const int64_t> strides_bytes);

  // Where `region` (in the whole tensor, within the rank's box) lies. Returns
  // kFailedPrecondition, naming the tensor, if it isn't bound.
  absl::StatusOr<RegionMemory> Find(int tensor, const vps::Box& region) const;

 private:
  struct Bound {
    std::byte* data = nullptr;
    absl::InlinedVector<int64_t, 4> strides_bytes;
  };
  std::string Describe(int64_t tensor) const;

  const vps::Layout layout_;
  const int rank_;
  const BindingSide side_;
  std::map<int, Bound> bound_;  // by tensor
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_BINDINGS_H_
