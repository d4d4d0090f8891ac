#include "transition/plan/cover.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/region.h"
#include "vps/layout/boxes.h"

namespace dynatrain::transition {
namespace {

absl::Status CheckEnds(const PlanInput& input, int target_rank,
                       const Route& route) {
  if (route.tensor < 0 || route.tensor >= input.num_tensors()) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no tensor ", route.tensor));
  }
  const auto wrong = [&](absl::string_view what) {
    return absl::FailedPreconditionError(
        absl::StrCat(route.DebugString(input), ": ", what));
  };
  if (route.target_rank != target_rank) {
    return wrong(absl::StrCat("is not for rank ", target_rank));
  }
  if (route.source_rank < 0 || route.source_rank >= input.source().size()) {
    return wrong("no such source rank");
  }
  const vps::Box held =
      vps::LocalBox(input.source().layout(), route.source_rank, route.tensor);
  if (route.region.empty() || !held.Contains(route.region)) {
    return wrong(absl::StrCat("the source holds ", held.DebugString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCover(const PlanInput& input, int target_rank,
                        absl::Span<const Route> routes) {
  std::vector<std::vector<vps::Box>> regions(input.num_tensors());
  for (const Route& route : routes) {
    RETURN_IF_ERROR(CheckEnds(input, target_rank, route));
    regions[route.tensor].push_back(route.region);
  }
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    RETURN_IF_ERROR(
        vps::CheckExactCover(
            vps::LocalBox(input.target().layout(), target_rank, tensor),
            regions[tensor]),
        absl::StrCat("rank ", target_rank, ", ", input.tensor(tensor).Id()));
  }
  return absl::OkStatus();
}

absl::Status CheckCover(const PlanInput& input, const ProcessPlan& plan) {
  if (plan.target_rank < 0 || input.source().empty()) return absl::OkStatus();
  std::vector<Route> routes;
  for (const LocalRoute& local : plan.local) routes.push_back(local.route);
  for (const PeerExchange& peer : plan.peers) {
    routes.insert(routes.end(), peer.receive.begin(), peer.receive.end());
  }
  return CheckCover(input, plan.target_rank, routes);
}

}  // namespace dynatrain::transition
