#include "transition/stage/plan_memory.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "transition/program/program.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

// Numbers the allocations of one rank in the order in which they come.
class Buffers {
 public:
  Buffers(const vps::Layout& layout, int rank, Granularity granularity)
      : layout_(layout), rank_(rank), granularity_(granularity) {}

  int NumberOf(const vps::OwnedRegion& region) {
    if (granularity_ == Granularity::kExtents) return kByExtents;
    const int buffer = layout_.BufferOf(rank_, region.tensor, region.copy);
    const bool shared = granularity_ == Granularity::kBuffers &&
                        buffer != vps::Storage::kOwnTensor;
    const Key key = shared ? Key{-1, buffer} : Key{region.tensor, region.copy};
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size()))
        .first->second;
  }

 private:
  using Key = std::pair<int, int>;

  const vps::Layout& layout_;
  const int rank_;
  const Granularity granularity_;
  std::map<Key, int> numbers_;
};

struct HeldPieces {
  std::vector<Piece> pieces;
  std::vector<int> buffers;
};

// `tensor_of`: of the input, by the layout's; empty if they are the same.
HeldPieces PiecesOfRank(const vps::Layout& layout, int rank,
                        Granularity granularity,
                        const std::vector<int>& tensor_of) {
  Buffers buffers(layout, rank, granularity);
  HeldPieces held;
  layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
    const int tensor =
        tensor_of.empty() ? region.tensor : tensor_of[region.tensor];
    held.pieces.push_back({tensor, region.global, region.copy});
    if (granularity == Granularity::kExtents) return;
    held.buffers.push_back(buffers.NumberOf(region));
  });
  return held;
}

// The input's tensors, by the source layout's.
std::vector<int> TensorOfSource(const PlanInput& input) {
  std::vector<int> tensor_of(input.num_tensors());
  for (int i = 0; i < input.num_tensors(); ++i) {
    tensor_of[input.SourceTensor(i)] = i;
  }
  return tensor_of;
}

}  // namespace

WorldMemory MemoryOf(const PlanInput& input, Granularity granularity,
                     int64_t dead_bytes, int64_t extent_bytes) {
  WorldMemory memory(input.num_processes());
  for (RankMemory& it : memory) it.extent_bytes = extent_bytes;
  if (!input.source().empty()) {
    const std::vector<int> tensor_of = TensorOfSource(input);
    for (int rank = 0; rank < input.source().size(); ++rank) {
      HeldPieces held =
          PiecesOfRank(input.source().layout(), rank, granularity, tensor_of);
      RankMemory& it = memory[input.UnionIndexOfSource(rank)];
      it.source = std::move(held.pieces);
      it.source_buffers = std::move(held.buffers);
      it.dead_bytes = dead_bytes;
    }
  }
  for (int rank = 0; rank < input.target().size(); ++rank) {
    HeldPieces held =
        PiecesOfRank(input.target().layout(), rank, granularity, {});
    RankMemory& it = memory[input.UnionIndexOfTarget(rank)];
    it.target = std::move(held.pieces);
    it.target_buffers = std::move(held.buffers);
  }
  return memory;
}

}  // namespace dynatrain::transition
