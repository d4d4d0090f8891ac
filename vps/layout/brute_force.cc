#include "vps/layout/brute_force.h"

#include <algorithm>

namespace dynatrain::vps {
namespace {

using List = std::vector<int64_t>;

// The coordinates of a rank: count ranks like an odometer, the last axis
// fastest, until it comes up.
std::vector<int> CoordinatesOf(const std::vector<int>& sizes, int rank) {
  std::vector<int> coordinates(sizes.size(), 0);
  for (int r = 0; r < rank; ++r) {
    for (int axis = static_cast<int>(sizes.size()) - 1; axis >= 0; --axis) {
      if (++coordinates[axis] < sizes[axis]) break;
      coordinates[axis] = 0;
    }
  }
  return coordinates;
}

struct Seat {
  int number = 0;
  int pieces = 1;
};

Seat SeatIn(const LayoutCase::Group& group, const std::vector<int>& sizes,
            const std::vector<int>& coordinates) {
  Seat seat;
  for (int axis : group.axes) {
    seat.number = seat.number * sizes[axis] + coordinates[axis];
    seat.pieces *= sizes[axis];
  }
  if (group.pieces > 0) seat.pieces = group.pieces;
  seat.number %= seat.pieces;
  return seat;
}

// What torch.chunk(list, pieces) has at `number`; nothing where torch leaves
// the chunk out.
List Chunk(const List& list, int pieces, int number) {
  const size_t length = (list.size() + pieces - 1) / pieces;
  List chunk;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i / length == static_cast<size_t>(number)) chunk.push_back(list[i]);
  }
  return chunk;
}

std::vector<List> BlocksOf(const List& list, const LayoutCase::Cut& cut) {
  std::vector<List> blocks;
  if (cut.block_extents.empty()) {
    for (int b = 0; b < cut.num_blocks; ++b) {
      blocks.push_back(Chunk(list, cut.num_blocks, b));
    }
    return blocks;
  }
  size_t next = 0;
  for (int64_t extent : cut.block_extents) {
    List block;
    for (int64_t i = 0; i < extent; ++i) block.push_back(list[next++]);
    blocks.push_back(block);
  }
  return blocks;
}

List Part(const List& list, const LayoutCase::Cut& cut, const Seat& seat) {
  List part;
  for (const List& block : BlocksOf(list, cut)) {
    for (int64_t i : Chunk(block, seat.pieces, seat.number)) part.push_back(i);
  }
  return part;
}

// Row-major positions in the whole tensor of a product of index lists.
List Product(const List& shape, const std::vector<List>& indices) {
  List positions = {0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    List longer;
    for (int64_t prefix : positions) {
      for (int64_t i : indices[dim]) longer.push_back(prefix * shape[dim] + i);
    }
    positions = longer;
  }
  return positions;
}

// Before it is flattened.
OwnMemory LocalTensor(const LayoutCase::Tensor& tensor,
                      const LayoutCase::Copy& copy,
                      const std::vector<int>& sizes,
                      const std::vector<int>& coordinates) {
  std::vector<List> indices;
  for (int64_t extent : tensor.shape) {
    List all;
    for (int64_t i = 0; i < extent; ++i) all.push_back(i);
    indices.push_back(all);
  }
  for (const LayoutCase::Cut& cut : copy.cuts) {
    indices[cut.dim] =
        Part(indices[cut.dim], cut, SeatIn(cut.group, sizes, coordinates));
  }
  OwnMemory memory = {Product(tensor.shape, indices), {}};
  for (const List& list : indices) memory.local_shape.push_back(list.size());
  return memory;
}

}  // namespace

std::optional<OwnMemory> BruteForceMemory(const LayoutCase& layout_case,
                                          int rank, int tensor,
                                          int copy_index) {
  const LayoutCase::Copy& copy = layout_case.tensors[tensor].copies[copy_index];
  const std::vector<int>& sizes = layout_case.meshes[copy.mesh];
  const std::vector<int> coordinates = CoordinatesOf(sizes, rank);
  for (size_t i = 0; i < copy.located_by.size(); ++i) {
    if (coordinates[copy.located_by[i]] != copy.at[i]) return std::nullopt;
  }
  OwnMemory memory =
      LocalTensor(layout_case.tensors[tensor], copy, sizes, coordinates);
  if (!copy.flat.has_value()) return memory;
  const Seat seat = SeatIn(*copy.flat, sizes, coordinates);
  const LayoutCase::Position in_run =
      copy.lanes.empty()
          ? copy.in_run
          : copy.by_lane[SeatIn({copy.lanes}, sizes, coordinates).number];
  OwnMemory shard;
  for (size_t f = 0; f < memory.elements.size(); ++f) {
    if ((in_run.position + static_cast<int64_t>(f)) / in_run.shard ==
        seat.number) {
      shard.elements.push_back(memory.elements[f]);
    }
  }
  shard.local_shape = {static_cast<int64_t>(shard.elements.size())};
  return shard;
}

std::vector<int64_t> BruteForceLocalElements(const LayoutCase& layout_case,
                                             int tensor,
                                             const LayoutCase::Copy& copy) {
  const std::vector<int>& sizes = layout_case.meshes[copy.mesh];
  std::vector<int64_t> most;
  for (int rank = 0; rank < layout_case.world_size(); ++rank) {
    const std::vector<int> coordinates = CoordinatesOf(sizes, rank);
    const Seat lane = SeatIn({copy.lanes}, sizes, coordinates);
    most.resize(lane.pieces);
    const OwnMemory local =
        LocalTensor(layout_case.tensors[tensor], copy, sizes, coordinates);
    most[lane.number] = std::max<int64_t>(
        most[lane.number], static_cast<int64_t>(local.elements.size()));
  }
  return most;
}

}  // namespace dynatrain::vps
