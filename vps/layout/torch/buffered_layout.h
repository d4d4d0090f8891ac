// BufferedLayout: a Layout and how large its flat buffers are, which its
// regions don't say, as padding belongs to no tensor.
#ifndef VPS_LAYOUT_TORCH_BUFFERED_LAYOUT_H_
#define VPS_LAYOUT_TORCH_BUFFERED_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "vps/layout/layout.h"
#include "vps/layout/listing/listing.h"
#include "vps/layout/rank_group.h"

namespace dynatrain::vps {

struct BufferedLayout {
  Layout layout;
  // Elements of each buffer, by its index in the layout, on a rank that has it,
  // by the number of the rank in the group.
  RankGroup lanes;
  std::vector<std::vector<int64_t>> buffer_elements;
};

// The buffers in which `rank` holds elements, in the order of the layout, with
// the tensors in them by position. Live names are the tensors' own: PyTorch
// programs have no other. O(what the rank holds).
std::vector<ListedBuffer> ListBuffers(const BufferedLayout& buffered, int rank);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_BUFFERED_LAYOUT_H_
