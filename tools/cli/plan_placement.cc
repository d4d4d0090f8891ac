#include "tools/cli/plan_placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/ranges_text.h"
#include "base/status_macros.h"
#include "tools/cli/text_table.h"
#include "transition/plan/make_input.h"
#include "transition/plan/relabel.h"
#include "transition/plan/world.h"
#include "transition/preview/best_nodes.h"

namespace dynatrain::cli {
namespace {

using transition::ClusterModel;
using transition::PlanInput;
using transition::Process;
using transition::World;

constexpr char kBest[] = "best";

// The nodes that a world of `size` ranks fills.
absl::StatusOr<std::vector<int>> NodesOf(const std::string& option,
                                         const std::string& given, int size,
                                         const ClusterModel& cluster) {
  const int per_node = cluster.figures().ranks_per_node;
  const int needed = (size + per_node - 1) / per_node;
  std::vector<int> nodes(cluster.figures().num_nodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  if (!given.empty() && given != kBest) {
    ASSIGN_OR_RETURN(nodes, ParseRanges(given, cluster.figures().num_nodes),
                     option);
  }
  if (nodes.size() < needed) {
    return absl::InvalidArgumentError(absl::StrCat(
        given.empty() ? "--cluster" : option, ": ", nodes.size(),
        " nodes have ", nodes.size() * per_node, " ranks, the layout has ",
        size, "; it needs ", needed, " nodes"));
  }
  nodes.resize(needed);
  return nodes;
}

// A process is known by its place: rank r of the cluster is process r + 1.
absl::StatusOr<World> WorldOn(vps::Layout layout, const std::vector<int>& nodes,
                              int per_node) {
  std::vector<Process> processes;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    const int node = nodes[rank / per_node];
    processes.push_back(
        {.id = static_cast<uint64_t>(node * per_node + rank % per_node) + 1,
         .member = static_cast<uint32_t>(node),
         .node = static_cast<uint32_t>(node) + 1});
  }
  return World::Create(std::move(layout), std::move(processes));
}

std::vector<int> PlacesOf(const PlanInput& input) {
  std::vector<int> places(input.num_processes());
  const auto place = [](const Process& process) {
    return static_cast<int>(process.id - 1);
  };
  for (int rank = 0; rank < input.source().size(); ++rank) {
    places[input.UnionIndexOfSource(rank)] =
        place(input.source().process(rank));
  }
  for (int rank = 0; rank < input.target().size(); ++rank) {
    places[input.UnionIndexOfTarget(rank)] =
        place(input.target().process(rank));
  }
  return places;
}

// Other processes for the ranks of `target`, as --relabel says; what it did,
// for people. Where nodes stay whole, `nodes` says where each run of ranks lies
// then.
absl::StatusOr<std::string> RelabelTarget(const std::string& unit, int per_node,
                                          const World& source, World& target,
                                          std::vector<int>& nodes) {
  const bool by_rank = unit == "ranks";
  ASSIGN_OR_RETURN(const PlanInput input, PlanInput::Create(source, target));
  ASSIGN_OR_RETURN(
      transition::Relabeling relabeling,
      Relabel(input, {.unit = by_rank ? transition::RelabelUnit::kRank
                                      : transition::RelabelUnit::kMember}),
      "--relabel");
  target = std::move(relabeling.target);
  for (size_t run = 0; relabeling.members_whole && run < nodes.size(); ++run) {
    const int rank = static_cast<int>(run) * per_node;
    nodes[run] = static_cast<int>(target.process(rank).member);
  }
  return absl::StrCat(
      "relabeled: ", BytesText(relabeling.kept_bytes), " stay rather than ",
      BytesText(relabeling.given_kept_bytes), ", ", relabeling.changed_ranks,
      " ranks have another process",
      relabeling.members_whole ? "" : ", and nodes are torn apart",
      relabeling.kept_bytes == relabeling.bound_bytes
          ? ""
          : absl::StrCat("; no order keeps more than ",
                         BytesText(relabeling.bound_bytes)));
}

}  // namespace

absl::StatusOr<PlacedPlan> PlacePlan(
    const PlacementOptions& options,
    const transition::InputOptions& input_options, const ClusterModel& cluster,
    vps::Layout from, vps::Layout to) {
  const int per_node = cluster.figures().ranks_per_node;
  if (options.from_nodes == kBest) {
    return absl::InvalidArgumentError(
        "--from-nodes: the job runs where it runs; best is for --to-nodes");
  }
  ASSIGN_OR_RETURN(
      std::vector<int> from_nodes,
      NodesOf("--from-nodes", options.from_nodes, from.world_size(), cluster));
  ASSIGN_OR_RETURN(
      std::vector<int> to_nodes,
      NodesOf("--to-nodes", options.to_nodes, to.world_size(), cluster));
  ASSIGN_OR_RETURN(World source,
                   WorldOn(std::move(from), from_nodes, per_node));
  ASSIGN_OR_RETURN(World target, WorldOn(to, to_nodes, per_node));
  if (options.to_nodes == kBest) {
    ASSIGN_OR_RETURN(const PlanInput input, PlanInput::Create(source, target));
    ASSIGN_OR_RETURN(
        transition::NodeChoice choice,
        BestNodes(input, from_nodes, per_node, cluster.figures().num_nodes),
        "--to-nodes");
    to_nodes = std::move(choice.nodes);
    ASSIGN_OR_RETURN(target, WorldOn(std::move(to), to_nodes, per_node));
  }
  std::string order;
  if (!options.relabel.empty()) {
    ASSIGN_OR_RETURN(order, RelabelTarget(options.relabel, per_node, source,
                                          target, to_nodes));
  }
  ASSIGN_OR_RETURN(transition::MadeInput made,
                   transition::MakePlanInput(std::move(source),
                                             std::move(target), input_options));
  std::vector<int> places = PlacesOf(made.input);
  return PlacedPlan{.made = std::move(made),
                    .from_nodes = std::move(from_nodes),
                    .to_nodes = std::move(to_nodes),
                    .places = std::move(places),
                    .order = std::move(order)};
}

}  // namespace dynatrain::cli
