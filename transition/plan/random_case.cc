#include "transition/plan/random_case.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/layout/manifest.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::transition {
namespace {

constexpr int kMaxRanks = 16;

int Pick(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<int> RandomSizes(std::mt19937_64& random, int axes) {
  std::vector<int> sizes(axes, 1);
  int world_size = 1;
  for (int i = 0; i < axes; ++i) {
    const int size = Pick(random, 1, 5);
    if (world_size * size > kMaxRanks) continue;
    world_size *= size;
    sizes[i] = size;
  }
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

int WorldSize(const std::vector<int>& sizes) {
  int product = 1;
  for (int size : sizes) product *= size;
  return product;
}

PlanCase::Tensor RandomTensor(std::mt19937_64& random, int axes) {
  PlanCase::Tensor tensor;
  const int dims = Pick(random, 0, 4);
  for (int dim = 0; dim < dims; ++dim) {
    tensor.shape.push_back(Pick(random, 0, 9) == 0 ? 0 : Pick(random, 1, 7));
  }
  std::vector<int> order(axes);
  for (int axis = 0; axis < axes; ++axis) order[axis] = axis;
  std::shuffle(order.begin(), order.end(), random);
  for (int axis : order) {
    if (dims == 0 || Pick(random, 0, 2) == 0) continue;  // replicated
    tensor.splits.push_back({axis, Pick(random, 0, dims - 1)});
  }
  return tensor;
}

std::string SideText(const PlanCase& plan_case, const PlanCase::Side& side) {
  std::string text;
  for (size_t i = 0; i < plan_case.axes.size(); ++i) {
    absl::StrAppend(&text, plan_case.axes[i], side.sizes[i], " ");
  }
  return absl::StrCat(text, "processes ", absl::StrJoin(side.ids, ","));
}

}  // namespace

PlanCase RandomCase(std::mt19937_64& random) {
  PlanCase plan_case;
  std::vector<std::string> names = {"dp", "tp", "pp", "ep", "rep"};
  std::shuffle(names.begin(), names.end(), random);
  names.resize(Pick(random, 1, 4));
  const int axes = static_cast<int>(names.size());
  plan_case.axes = std::move(names);
  plan_case.source.sizes = RandomSizes(random, axes);
  plan_case.target.sizes = RandomSizes(random, axes);
  const int tensors = Pick(random, 1, 4);
  for (int i = 0; i < tensors; ++i) {
    plan_case.tensors.push_back(RandomTensor(random, axes));
  }
  std::tie(plan_case.source.ids, plan_case.target.ids) =
      RandomProcesses(WorldSize(plan_case.source.sizes),
                      WorldSize(plan_case.target.sizes), random);
  plan_case.ranks_per_member = Pick(random, 1, 4);
  plan_case.min_sender_bytes = Pick(random, 1, 64);
  plan_case.max_senders = Pick(random, 1, 8);
  return plan_case;
}

absl::StatusOr<PlanInput> MakeInput(const PlanCase& plan_case) {
  std::vector<vps::ManifestTensor> tensors;
  for (size_t i = 0; i < plan_case.tensors.size(); ++i) {
    const PlanCase::Tensor& tensor = plan_case.tensors[i];
    ASSIGN_OR_RETURN(vps::TensorSpec spec,
                     vps::TensorSpec::Create(
                         absl::StrCat("t", i), "param",
                         i % 2 == 0 ? vps::Dtype::kFloat32 : vps::Dtype::kBool,
                         tensor.shape));
    vps::Sharding sharding;
    for (const PlanCase::Split& split : tensor.splits) {
      sharding.push_back({plan_case.axes[split.axis], split.dim});
    }
    tensors.push_back({std::move(spec), std::move(sharding)});
  }
  ASSIGN_OR_RETURN(const vps::Manifest manifest,
                   vps::Manifest::Create(std::move(tensors)));
  const auto make_world =
      [&](const PlanCase::Side& side) -> absl::StatusOr<World> {
    std::vector<vps::MeshAxis> axes;
    for (size_t i = 0; i < plan_case.axes.size(); ++i) {
      axes.push_back({plan_case.axes[i], side.sizes[i]});
    }
    ASSIGN_OR_RETURN(vps::Mesh mesh, vps::Mesh::Create(std::move(axes)));
    ASSIGN_OR_RETURN(vps::Layout layout, vps::MakeLayout(mesh, manifest));
    std::vector<Process> processes;
    for (uint64_t id : side.ids) {
      processes.push_back(
          {id, static_cast<uint32_t>(id / plan_case.ranks_per_member)});
    }
    return World::Create(std::move(layout), std::move(processes));
  };
  ASSIGN_OR_RETURN(World source, make_world(plan_case.source));
  ASSIGN_OR_RETURN(World target, make_world(plan_case.target));
  return PlanInput::Create(std::move(source), std::move(target),
                           {.min_sender_bytes = plan_case.min_sender_bytes,
                            .max_senders = plan_case.max_senders});
}

std::pair<std::vector<uint64_t>, std::vector<uint64_t>> RandomProcesses(
    int source_size, int target_size, std::mt19937_64& random) {
  const int percent_shared = std::vector<int>{0, 50, 100}[Pick(random, 0, 2)];
  std::vector<uint64_t> source, target;
  for (int id = 1; id <= source_size; ++id) {
    source.push_back(id);
    if (Pick(random, 0, 99) < percent_shared) target.push_back(id);
  }
  for (int id = 1; static_cast<int>(target.size()) < target_size; ++id) {
    // Joiners come beside survivors (same members) or on members of their own.
    target.push_back((Pick(random, 0, 1) == 0 ? 500 : source_size) + id);
  }
  std::shuffle(source.begin(), source.end(), random);
  std::shuffle(target.begin(), target.end(), random);
  target.resize(target_size);
  return {source, target};
}

std::ostream& operator<<(std::ostream& out, const PlanCase& plan_case) {
  out << "source: " << SideText(plan_case, plan_case.source)
      << "\ntarget: " << SideText(plan_case, plan_case.target)
      << "\nranks per member " << plan_case.ranks_per_member
      << ", min_sender_bytes " << plan_case.min_sender_bytes << ", max_senders "
      << plan_case.max_senders;
  for (const PlanCase::Tensor& tensor : plan_case.tensors) {
    out << "\ntensor [" << absl::StrJoin(tensor.shape, ", ") << "]";
    for (const PlanCase::Split& split : tensor.splits) {
      out << " " << plan_case.axes[split.axis] << ":" << split.dim;
    }
  }
  return out;
}

}  // namespace dynatrain::transition
