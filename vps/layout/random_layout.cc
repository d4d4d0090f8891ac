#include "vps/layout/random_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/shrink.h"
#include "base/status_macros.h"
#include "vps/layout/brute_force.h"
#include "vps/layout/layout_builder.h"

namespace dynatrain::vps {
namespace {

using Copy = LayoutCase::Copy;
using Cut = LayoutCase::Cut;
using Group = LayoutCase::Group;
using Tensor = LayoutCase::Tensor;

int Pick(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

bool Once(std::mt19937_64& random, int in) { return Pick(random, 1, in) == 1; }

std::vector<int> DivisorsOf(int n) {
  std::vector<int> divisors;
  for (int d = 1; d <= n; ++d) {
    if (n % d == 0) divisors.push_back(d);
  }
  return divisors;
}

template <typename T>
const T& PickOf(std::mt19937_64& random, const std::vector<T>& list) {
  return list[Pick(random, 0, static_cast<int>(list.size()) - 1)];
}

// 1 to 4 axes whose product is `world_size`.
std::vector<int> RandomMesh(int world_size, std::mt19937_64& random) {
  std::vector<int> sizes;
  for (int axes = Pick(random, 1, 4); axes > 1; --axes) {
    sizes.push_back(PickOf(random, DivisorsOf(world_size)));
    world_size /= sizes.back();
  }
  sizes.push_back(world_size);
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

// Takes one axis out of `axes`, sometimes two.
Group TakeGroup(std::vector<int>& axes, const std::vector<int>& sizes,
                std::mt19937_64& random) {
  Group group;
  int ranks = 1;
  do {
    group.axes.push_back(axes.back());
    ranks *= sizes[axes.back()];
    axes.pop_back();
  } while (!axes.empty() && Once(random, 3));
  if (Once(random, 4)) group.pieces = PickOf(random, DivisorsOf(ranks));
  return group;
}

void AddBlocks(Cut& cut, bool first_of_dim, int64_t extent,
               std::mt19937_64& random) {
  if (Once(random, 2)) return;
  if (!first_of_dim || Once(random, 2)) {
    cut.num_blocks = Pick(random, 1, 4);
    return;
  }
  while (extent > 0) {
    cut.block_extents.push_back(Pick(random, 0, static_cast<int>(extent)));
    extent -= cut.block_extents.back();
  }
}

// The axes of some cuts of the copy.
std::vector<int> RandomLanes(const Copy& copy, std::mt19937_64& random) {
  std::vector<int> lanes;
  for (const Cut& cut : copy.cuts) {
    if (cut.group.pieces != 0 || Once(random, 3)) continue;
    lanes.insert(lanes.end(), cut.group.axes.begin(), cut.group.axes.end());
  }
  return lanes;
}

LayoutCase::Position RandomPosition(int64_t elements, int pieces,
                                    std::mt19937_64& random) {
  LayoutCase::Position in_run;
  in_run.position = Once(random, 2) ? 0 : Pick(random, 0, 40);
  in_run.shard =
      std::max<int64_t>(1, (in_run.position + elements + pieces - 1) / pieces);
  if (Once(random, 2)) in_run.shard += Pick(random, 0, 30);
  return in_run;
}

// Needs `layout_case` for its meshes and the tensor's shape.
Copy RandomCopy(const LayoutCase& layout_case, int tensor,
                std::mt19937_64& random) {
  const std::vector<int64_t>& shape = layout_case.tensors[tensor].shape;
  Copy copy;
  copy.mesh = Pick(random, 0, static_cast<int>(layout_case.meshes.size()) - 1);
  const std::vector<int>& sizes = layout_case.meshes[copy.mesh];
  std::vector<int> axes(sizes.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::shuffle(axes.begin(), axes.end(), random);
  while (!axes.empty() && Once(random, 3)) {
    copy.located_by.push_back(axes.back());
    copy.at.push_back(Pick(random, 0, sizes[axes.back()] - 1));
    axes.pop_back();
  }
  std::vector<bool> is_cut(shape.size());
  while (!axes.empty() && !shape.empty() && !Once(random, 3)) {
    Cut cut = {.group = TakeGroup(axes, sizes, random)};
    cut.dim = Pick(random, 0, static_cast<int>(shape.size()) - 1);
    AddBlocks(cut, !is_cut[cut.dim], shape[cut.dim], random);
    is_cut[cut.dim] = true;
    copy.cuts.push_back(std::move(cut));
  }
  if (axes.empty() || Once(random, 2)) return copy;
  copy.flat = TakeGroup(axes, sizes, random);
  int pieces = copy.flat->pieces;
  if (pieces == 0) {
    pieces = 1;
    for (int axis : copy.flat->axes) pieces *= sizes[axis];
  }
  if (Once(random, 2)) copy.lanes = RandomLanes(copy, random);
  for (const int64_t elements :
       BruteForceLocalElements(layout_case, tensor, copy)) {
    copy.by_lane.push_back(RandomPosition(elements, pieces, random));
  }
  if (copy.lanes.empty()) {
    copy.in_run = copy.by_lane[0];
    copy.by_lane.clear();
  }
  return copy;
}

Placement PlacementOf(const Copy& copy) {
  Placement placement = {.mesh = copy.mesh, .located_by = copy.located_by};
  for (const Cut& cut : copy.cuts) {
    placement.cuts.push_back({{cut.group.axes, cut.group.pieces},
                              cut.dim,
                              cut.num_blocks,
                              cut.block_extents});
  }
  if (copy.flat.has_value()) {
    placement.flat = Flat{{copy.flat->axes, copy.flat->pieces}};
  }
  placement.lanes = copy.lanes;
  return placement;
}

FlatPosition FlatOf(const LayoutCase::Position& in_run) {
  return {in_run.position, in_run.shard};
}

Held HeldOf(const Copy& copy, int placement) {
  Held held = {.placement = placement,
               .at = {copy.at.begin(), copy.at.end()},
               .flat = FlatOf(copy.in_run)};
  for (const LayoutCase::Position& in_run : copy.by_lane) {
    held.lanes.push_back({.flat = FlatOf(in_run)});
  }
  return held;
}

std::string GroupText(const Group& group) {
  return absl::StrCat("(", absl::StrJoin(group.axes, "*"),
                      group.pieces == 0 ? "" : absl::StrCat("%", group.pieces),
                      ")");
}

std::string PositionText(const LayoutCase::Position& in_run) {
  return absl::StrCat(" at ", in_run.position, " shards of ", in_run.shard);
}

std::string CopyText(const Copy& copy) {
  std::string text = absl::StrCat("mesh ", copy.mesh);
  for (size_t i = 0; i < copy.at.size(); ++i) {
    absl::StrAppend(&text, ", axis ", copy.located_by[i], " at ", copy.at[i]);
  }
  for (const Cut& cut : copy.cuts) {
    absl::StrAppend(&text, ", ", GroupText(cut.group), " cuts dim ", cut.dim);
    if (cut.num_blocks > 1) {
      absl::StrAppend(&text, " in ", cut.num_blocks, " blocks");
    }
    if (!cut.block_extents.empty()) {
      absl::StrAppend(&text, " in blocks of ",
                      absl::StrJoin(cut.block_extents, "+"));
    }
  }
  if (copy.flat.has_value()) {
    absl::StrAppend(&text, ", ", GroupText(*copy.flat), " flat",
                    PositionText(copy.in_run));
  }
  if (copy.lanes.empty()) return text;
  absl::StrAppend(&text, ", by ", GroupText({copy.lanes}), ":");
  for (const LayoutCase::Position& in_run : copy.by_lane) {
    absl::StrAppend(&text, PositionText(in_run));
  }
  return text;
}

// Gathers the smaller cases that are still layouts.
class Smallers {
 public:
  explicit Smallers(const LayoutCase& whole) : whole_(whole) {}

  template <typename Change>
  void Try(Change change) {
    LayoutCase smaller = whole_;
    change(smaller);
    if (MakeLayout(smaller).ok()) cases_.push_back(std::move(smaller));
  }
  std::vector<LayoutCase> Take() { return std::move(cases_); }

 private:
  const LayoutCase& whole_;
  std::vector<LayoutCase> cases_;
};

// `try_copy(change)`.
template <typename TryCopy>
void TrySmallerPositions(const Copy& copy, const TryCopy& try_copy) {
  const auto try_position = [&](const LayoutCase::Position& in_run,
                                const auto& of) {
    if (in_run.position > 0) {
      try_copy([of](Copy& it) { --of(it).position; });
    }
    try_copy([of](Copy& it) { --of(it).shard; });
  };
  if (copy.lanes.empty()) {
    return try_position(
        copy.in_run, [](Copy & it) -> auto& { return it.in_run; });
  }
  for (size_t i = 0; i < copy.by_lane.size(); ++i) {
    // As if all were where this one is.
    try_copy([i](Copy& it) {
      it.in_run = it.by_lane[i];
      it.lanes.clear();
      it.by_lane.clear();
    });
    try_position(
        copy.by_lane[i], [i](Copy & it) -> auto& { return it.by_lane[i]; });
  }
}

void TrySmallerCopies(const LayoutCase& whole, size_t t, Smallers& smaller) {
  const auto try_copy = [&](size_t c, auto change) {
    smaller.Try([&](LayoutCase& it) { change(it.tensors[t].copies[c]); });
  };
  const std::vector<Copy>& copies = whole.tensors[t].copies;
  for (size_t c = 0; c < copies.size(); ++c) {
    smaller.Try([&](LayoutCase& it) {
      it.tensors[t].copies.erase(it.tensors[t].copies.begin() + c);
    });
    if (!copies[c].at.empty()) {
      try_copy(c, [](Copy& copy) {
        copy.at.pop_back();
        copy.located_by.pop_back();
      });
    }
    if (copies[c].flat.has_value()) {
      try_copy(c, [](Copy& copy) {
        copy.flat.reset();
        copy.in_run = {};
        copy.lanes.clear();
        copy.by_lane.clear();
      });
      TrySmallerPositions(copies[c], [&](auto change) { try_copy(c, change); });
    }
    for (size_t i = 0; i < copies[c].cuts.size(); ++i) {
      try_copy(c, [&](Copy& copy) { copy.cuts.erase(copy.cuts.begin() + i); });
      if (copies[c].cuts[i].num_blocks > 1) {
        try_copy(c, [&](Copy& copy) { --copy.cuts[i].num_blocks; });
      }
      if (!copies[c].cuts[i].block_extents.empty()) {
        try_copy(c, [&](Copy& copy) { copy.cuts[i].block_extents.clear(); });
      }
    }
  }
}

}  // namespace

int LayoutCase::world_size() const {
  int product = 1;
  for (int size : meshes[0]) product *= size;
  return product;
}

std::vector<Tensor> RandomTensors(std::mt19937_64& random) {
  std::vector<Tensor> tensors(Pick(random, 1, 4));
  for (Tensor& tensor : tensors) {
    tensor.shape.resize(Pick(random, 0, 3));
    for (int64_t& extent : tensor.shape) {
      extent = Once(random, 15) ? 0 : Pick(random, 1, 9);
    }
    if (!tensor.shape.empty() && Once(random, 5)) {
      tensor.pad_from = tensor.shape[0];
    }
  }
  return tensors;
}

LayoutCase RandomLayout(std::vector<Tensor> tensors, int max_ranks,
                        std::mt19937_64& random) {
  LayoutCase layout_case;
  layout_case.tensors = std::move(tensors);
  const int world_size = Pick(random, 1, max_ranks);
  for (int meshes = Pick(random, 1, 2); meshes > 0; --meshes) {
    layout_case.meshes.push_back(RandomMesh(world_size, random));
  }
  for (size_t t = 0; t < layout_case.tensors.size(); ++t) {
    Tensor& tensor = layout_case.tensors[t];
    if (tensor.pad_from >= 0) {
      tensor.shape[0] = tensor.pad_from + Pick(random, 0, 3);
    }
    for (int copies = Once(random, 4) ? 2 : 1; copies > 0; --copies) {
      tensor.copies.push_back(
          RandomCopy(layout_case, static_cast<int>(t), random));
    }
  }
  return layout_case;
}

absl::StatusOr<Layout> MakeLayout(const LayoutCase& layout_case) {
  LayoutBuilder builder;
  for (const std::vector<int>& sizes : layout_case.meshes) {
    std::vector<MeshAxis> axes;
    for (size_t i = 0; i < sizes.size(); ++i) {
      axes.push_back({absl::StrCat("a", i), sizes[i]});
    }
    ASSIGN_OR_RETURN(Mesh mesh, Mesh::Create(std::move(axes)));
    builder.AddMesh(std::move(mesh));
  }
  for (size_t t = 0; t < layout_case.tensors.size(); ++t) {
    const Tensor& tensor = layout_case.tensors[t];
    ASSIGN_OR_RETURN(
        TensorSpec spec,
        TensorSpec::Create(
            absl::StrCat("t", t), "param",
            t % 2 == 0 ? Dtype::kFloat32 : Dtype::kBool, tensor.shape,
            tensor.pad_from < 0 ? std::nullopt
                                : std::optional<int64_t>(tensor.pad_from)));
    const int index = builder.AddTensor(std::move(spec));
    for (const Copy& copy : tensor.copies) {
      builder.AddCopy(index,
                      HeldOf(copy, builder.AddPlacement(PlacementOf(copy))));
    }
  }
  return std::move(builder).Build();
}

std::vector<LayoutCase> Smaller(const LayoutCase& layout_case,
                                bool drop_tensors) {
  Smallers smaller(layout_case);
  for (size_t t = 0; t < layout_case.tensors.size(); ++t) {
    if (drop_tensors) {
      smaller.Try(
          [&](LayoutCase& it) { it.tensors.erase(it.tensors.begin() + t); });
    }
    TrySmallerCopies(layout_case, t, smaller);
    if (!drop_tensors) continue;  // shapes belong to both of a pair
    for (size_t d = 0; d < layout_case.tensors[t].shape.size(); ++d) {
      if (layout_case.tensors[t].shape[d] == 0) continue;
      smaller.Try([&](LayoutCase& it) {
        it.tensors[t].pad_from = -1;
        --it.tensors[t].shape[d];
      });
    }
  }
  return smaller.Take();
}

LayoutCase Shrink(LayoutCase layout_case,
                  const std::function<bool(const LayoutCase&)>& fails) {
  const auto smaller = [](const LayoutCase& it) {
    return Smaller(it, /*drop_tensors=*/true);
  };
  return dynatrain::Shrink(std::move(layout_case), smaller, fails);
}

std::ostream& operator<<(std::ostream& out, const LayoutCase& layout_case) {
  for (const std::vector<int>& sizes : layout_case.meshes) {
    out << "mesh (" << absl::StrJoin(sizes, ", ") << ")\n";
  }
  for (size_t t = 0; t < layout_case.tensors.size(); ++t) {
    const Tensor& tensor = layout_case.tensors[t];
    out << "t" << t << " [" << absl::StrJoin(tensor.shape, ", ") << "]";
    if (tensor.pad_from >= 0) out << " padded from " << tensor.pad_from;
    for (const Copy& copy : tensor.copies) out << "\n  " << CopyText(copy);
    out << "\n";
  }
  return out;
}

}  // namespace dynatrain::vps
