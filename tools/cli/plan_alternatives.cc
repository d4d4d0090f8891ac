#include "tools/cli/plan_alternatives.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/text_table.h"

namespace dynatrain::cli {
namespace {

using transition::Preview;
using transition::PreviewOptions;
using transition::Warning;

struct Alternative {
  const char* option;
  PlacementOptions placement;
};

// What can't be placed so is no alternative.
absl::StatusOr<Preview> PreviewOf(const PlanRequest& request,
                                  const PlacementOptions& placement,
                                  PreviewOptions options) {
  absl::StatusOr<PlacedPlan> placed = PlacePlan(
      placement, request.input_options, request.cluster.model,
      request.input.source().layout(), request.input.target().layout());
  if (!placed.ok()) return placed.status();
  options.place_of_process = placed->places;
  options.staging.reset();
  options.collectives.reset();
  return MakePreview(placed->made.input, request.cluster.model, options);
}

}  // namespace

std::vector<Warning> BetterPlacements(const PlanRequest& request,
                                      const Preview& preview,
                                      const PreviewOptions& options) {
  const PlacementOptions& given = request.placement;
  const int ranks = std::max(preview.source_size, preview.target_size);
  if (!given.relabel.empty() || ranks > kMostRanksToReorder ||
      preview.traffic.total_bytes() == 0) {
    return {};
  }
  std::vector<Alternative> alternatives;
  if (given.to_nodes.empty()) {
    alternatives.push_back({"--to-nodes best", {given.from_nodes, "best", ""}});
  }
  alternatives.push_back(
      {"--relabel ranks", {given.from_nodes, given.to_nodes, "ranks"}});
  // In one stage, as the alternatives are, and with collectives where they win.
  const int64_t given_ns = std::min(preview.schedule.ns, preview.transfer_ns);
  std::vector<Warning> warnings;
  int64_t best_ns = given_ns;
  for (const Alternative& it : alternatives) {
    const absl::StatusOr<Preview> other =
        PreviewOf(request, it.placement, options);
    // Each has to be better than what was said before.
    if (!other.ok() || other->transfer_ns >= best_ns / 5 * 4) continue;
    best_ns = other->transfer_ns;
    warnings.push_back(
        {"better-placement",
         absl::StrCat("with ", it.option, " the transfer would take ",
                      TimeText(other->transfer_ns), " in the place of ",
                      TimeText(given_ns), ": ",
                      BytesText(other->bytes.total.moved_bytes), " move, ",
                      BytesText(other->loads.between_bytes),
                      " between nodes, in the place of ",
                      BytesText(preview.bytes.total.moved_bytes), " and ",
                      BytesText(preview.loads.between_bytes))});
  }
  return warnings;
}

}  // namespace dynatrain::cli
