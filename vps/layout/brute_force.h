// The oracle of the layouts' property tests: what every rank holds, straight
// from the definition in docs/design/0002-space.md, by enumerating elements and
// nothing else. It shares no code with the layout: meshes, groups, the chunk
// rule and flat positions are done again here, the slow and obvious way.
#ifndef VPS_LAYOUT_BRUTE_FORCE_H_
#define VPS_LAYOUT_BRUTE_FORCE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "vps/layout/random_layout.h"

namespace dynatrain::vps {

// A rank's own memory of a copy, element by element: each is named by its
// row-major position in the whole tensor.
struct OwnMemory {
  std::vector<int64_t> elements;
  std::vector<int64_t> local_shape;  // {length} if flattened
};

// nullopt if the copy isn't at that rank.
std::optional<OwnMemory> BruteForceMemory(const LayoutCase& layout_case,
                                          int rank, int tensor, int copy);

// Elements of the largest local tensor of the copy before it is flattened, of
// the ranks of each lane; of all ranks, if there are no lanes.
std::vector<int64_t> BruteForceLocalElements(const LayoutCase& layout_case,
                                             int tensor,
                                             const LayoutCase::Copy& copy);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_BRUTE_FORCE_H_
