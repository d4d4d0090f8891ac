#include "transition/plan/random_pair.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "transition/plan/make_input.h"

namespace dynatrain::transition {
namespace {

int Pick(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

absl::StatusOr<World> MakeWorld(const PairCase& pair,
                                const PairCase::Side& side) {
  ASSIGN_OR_RETURN(vps::Layout layout, vps::MakeLayout(side.layout));
  std::vector<Process> processes;
  for (uint64_t id : side.ids) {
    processes.push_back(ProcessOf(pair, id));
  }
  return World::Create(std::move(layout), std::move(processes));
}

PairCase::Side SideOf(const PlanCase& plan_case, const PlanCase::Side& side) {
  PairCase::Side result = {.layout = {.meshes = {side.sizes}, .tensors = {}},
                           .ids = side.ids};
  for (const PlanCase::Tensor& tensor : plan_case.tensors) {
    vps::LayoutCase::Copy copy;
    for (const PlanCase::Split& split : tensor.splits) {
      copy.cuts.push_back({.group = {{split.axis}}, .dim = split.dim});
    }
    result.layout.tensors.push_back({.shape = tensor.shape, .copies = {copy}});
  }
  return result;
}

// Processes, where they run, and options for the pair's layouts.
void AddRandomProcesses(std::mt19937_64& random, PairCase& pair) {
  const auto [source_ids, target_ids] = RandomProcesses(
      pair.source.layout.world_size(), pair.target.layout.world_size(), random);
  pair.source.ids = source_ids;
  pair.target.ids = target_ids;
  pair.ranks_per_member = Pick(random, 1, 4);
  const auto maybe = [&](int low, int high) {
    return Pick(random, 0, 1) == 0 ? 0 : Pick(random, low, high);
  };
  pair.ranks_per_device = maybe(1, 2);
  pair.ranks_per_node = maybe(1, 8);
  pair.rails = maybe(1, 5);
  pair.min_sender_bytes = Pick(random, 1, 64);
  pair.max_senders = Pick(random, 1, 8);
  pair.balanced = Pick(random, 0, 1) == 1;
}

}  // namespace

Process ProcessOf(const PairCase& pair, uint64_t id) {
  const auto group = [id](int ranks) {
    return ranks == 0 ? 0 : static_cast<uint32_t>(id / ranks) + 1;
  };
  return {
      .id = id,
      .member = static_cast<uint32_t>(id / pair.ranks_per_member),
      .device = group(pair.ranks_per_device),
      .node = group(pair.ranks_per_node),
      .rail = pair.rails == 0 ? 0 : static_cast<uint32_t>(id % pair.rails) + 1};
}

PairCase RandomPair(std::mt19937_64& random, int max_ranks) {
  const std::vector<vps::LayoutCase::Tensor> tensors =
      vps::RandomTensors(random);
  PairCase pair;
  pair.source.layout = vps::RandomLayout(tensors, max_ranks, random);
  pair.target.layout = vps::RandomLayout(tensors, max_ranks, random);
  AddRandomProcesses(random, pair);
  return pair;
}

PairCase ReplicatedPair(std::mt19937_64& random) {
  const std::vector<int64_t> shape = {Pick(random, 1, 12), Pick(random, 1, 5)};
  PairCase pair;
  for (PairCase::Side* side : {&pair.source, &pair.target}) {
    const int axis = Pick(random, 0, 1);  // of the parts
    std::vector<int> sizes(2, Pick(random, 1, 20));
    sizes[axis] = Pick(random, 1, 3);
    const int64_t elements = shape[0] * shape[1];
    const vps::LayoutCase::Copy copies[] = {
        {},
        {.cuts = {{.group = {{axis}}, .dim = Pick(random, 0, 1)}}},
        {.flat = {{{axis}}},
         .in_run = {.shard = (elements + sizes[axis] - 1) / sizes[axis]}}};
    side->layout.meshes = {sizes};
    for (const vps::LayoutCase::Copy& copy : copies) {
      side->layout.tensors.push_back({.shape = shape, .copies = {copy}});
    }
  }
  AddRandomProcesses(random, pair);
  return pair;
}

PairCase PairOf(const PlanCase& plan_case) {
  return {.source = SideOf(plan_case, plan_case.source),
          .target = SideOf(plan_case, plan_case.target),
          .ranks_per_member = plan_case.ranks_per_member,
          .min_sender_bytes = plan_case.min_sender_bytes,
          .max_senders = plan_case.max_senders};
}

absl::StatusOr<PlanInput> MakeInput(const PairCase& pair) {
  ASSIGN_OR_RETURN(World source, MakeWorld(pair, pair.source));
  ASSIGN_OR_RETURN(World target, MakeWorld(pair, pair.target));
  const PlanOptions options = {.min_sender_bytes = pair.min_sender_bytes,
                               .max_senders = pair.max_senders};
  if (!pair.balanced) {
    return PlanInput::Create(std::move(source), std::move(target), options);
  }
  ASSIGN_OR_RETURN(
      MadeInput made,
      MakePlanInput(std::move(source), std::move(target), {.plan = options}));
  return std::move(made.input);
}

std::vector<PairCase> SmallerPairs(const PairCase& pair) {
  std::vector<PairCase> pairs;
  for (size_t t = 0; t < pair.source.layout.tensors.size(); ++t) {
    pairs.push_back(pair);
    for (auto* side : {&pairs.back().source, &pairs.back().target}) {
      side->layout.tensors.erase(side->layout.tensors.begin() + t);
    }
  }
  const auto try_sides = [&](PairCase::Side PairCase::*side) {
    for (vps::LayoutCase& layout :
         vps::Smaller((pair.*side).layout, /*drop_tensors=*/false)) {
      pairs.push_back(pair);
      (pairs.back().*side).layout = std::move(layout);
    }
  };
  try_sides(&PairCase::source);
  try_sides(&PairCase::target);
  return pairs;
}

std::ostream& operator<<(std::ostream& out, const PairCase& pair) {
  return out << "source: processes " << absl::StrJoin(pair.source.ids, ",")
             << "\n"
             << pair.source.layout << "target: processes "
             << absl::StrJoin(pair.target.ids, ",") << "\n"
             << pair.target.layout << "ranks per member "
             << pair.ranks_per_member << ", per device "
             << pair.ranks_per_device << ", per node " << pair.ranks_per_node
             << ", rails " << pair.rails << ", min_sender_bytes "
             << pair.min_sender_bytes << ", max_senders " << pair.max_senders
             << (pair.balanced ? ", balanced\n" : "\n");
}

}  // namespace dynatrain::transition
