// Random layouts for property tests, as plain lists that a shrinker can cut.
#ifndef VPS_LAYOUT_RANDOM_LAYOUT_H_
#define VPS_LAYOUT_RANDOM_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "vps/layout/layout.h"

namespace dynatrain::vps {

// All that a Layout is made of.
struct LayoutCase {
  struct Group {
    std::vector<int> axes;
    int pieces = 0;
  };
  struct Cut {
    Group group;
    int dim = 0;
    int num_blocks = 1;
    std::vector<int64_t> block_extents;
  };
  struct Position {
    int64_t position = 0;
    int64_t shard = 0;
  };
  struct Copy {
    int mesh = 0;
    std::vector<int> located_by;
    std::vector<int> at;
    std::vector<Cut> cuts;
    std::optional<Group> flat;
    Position in_run;         // if flat, without lanes
    std::vector<int> lanes;  // axes
    std::vector<Position> by_lane;
  };
  struct Tensor {
    std::vector<int64_t> shape;
    int64_t pad_from = -1;  // -1: not padded
    std::vector<Copy> copies;
  };

  std::vector<std::vector<int>> meshes;  // sizes of axes, slowest first
  std::vector<Tensor> tensors;

  int world_size() const;
};

// Tensors without copies: 0 to 3 dims, extents 0 to 9, some padded.
std::vector<LayoutCase::Tensor> RandomTensors(std::mt19937_64& random);

// A layout of at most `max_ranks` ranks: one or two meshes, copies that are
// located, cut (also in blocks, unevenly, by groups of axes modulo pieces) and
// flattened (shards shorter than a row, longer than the tensor, empty ones;
// elsewhere on each lane).
// The first padded extent of each tensor changes if it is padded.
LayoutCase RandomLayout(std::vector<LayoutCase::Tensor> tensors, int max_ranks,
                        std::mt19937_64& random);

// Tensor i is named "t<i>" and has the state "param"; even ones are float32,
// odd ones bool.
absl::StatusOr<Layout> MakeLayout(const LayoutCase& layout_case);

// Every case that is a little smaller and still a layout. Tensors keep their
// number unless `drop_tensors`.
std::vector<LayoutCase> Smaller(const LayoutCase& layout_case,
                                bool drop_tensors);

// The smallest case that `fails` still accepts (base/shrink.h).
LayoutCase Shrink(LayoutCase layout_case,
                  const std::function<bool(const LayoutCase&)>& fails);

std::ostream& operator<<(std::ostream& out, const LayoutCase& layout_case);

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_RANDOM_LAYOUT_H_
