#include "vps/layout/torch/buffered_layout.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dynatrain::vps {

std::vector<ListedBuffer> ListBuffers(const BufferedLayout& buffered,
                                      int rank) {
  const Layout& layout = buffered.layout;
  std::map<int, ListedBuffer> buffers;
  std::pair<int, int> last = {-1, -1};
  layout.ForEachRegion(rank, [&](const OwnedRegion& region) {
    if (std::exchange(last, {region.tensor, region.copy}) == last) return;
    const int index = layout.BufferOf(rank, region.tensor, region.copy);
    if (index == Storage::kOwnTensor) return;
    ListedBuffer& buffer = buffers[index];
    buffer.name = layout.buffers()[index];
    buffer.elements =
        buffered.buffer_elements[index][buffered.lanes.NumberOf(rank)];
    const int64_t begin = layout.BufferOffset(rank, region.tensor, region.copy);
    const LocalShape shape =
        *layout.LocalShapeOf(rank, region.tensor, region.copy);
    int64_t elements = 1;
    for (int64_t extent : shape) elements *= extent;
    buffer.tensors.push_back(
        {layout.tensor(region.tensor).name(), begin, begin + elements});
  });
  std::vector<ListedBuffer> listed;
  for (auto& [index, buffer] : buffers) {
    std::sort(buffer.tensors.begin(), buffer.tensors.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    listed.push_back(std::move(buffer));
  }
  return listed;
}

}  // namespace dynatrain::vps
