#include "transition/plan/cover.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/region.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

// A region of a tensor that is filled.
struct Arrival {
  int copy;
  vps::Box region;
};

// "[0:2, 0:4], [4:6, 0:4]"; "nothing".
std::string RegionsText(const vps::Layout& layout, int rank, int tensor,
                        int copy) {
  std::vector<std::string> texts;
  layout.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& region) {
    if (region.copy == copy) texts.push_back(region.global.DebugString());
  });
  return texts.empty() ? "nothing" : absl::StrJoin(texts, ", ");
}

bool Holds(const vps::Layout& layout, int rank, int tensor, int copy,
           const vps::Box& box) {
  bool holds = false;
  layout.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& region) {
    holds = holds || (region.copy == copy && region.global.Contains(box));
  });
  return holds;
}

absl::Status CheckTensor(const PlanInput& input, int tensor) {
  if (tensor >= 0 && tensor < input.num_tensors()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("there is no tensor ", tensor));
}

absl::Status CheckEnds(const PlanInput& input, int target_rank,
                       const Route& route) {
  RETURN_IF_ERROR(CheckTensor(input, route.tensor));
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
  const vps::Layout& source = input.source().layout();
  const int tensor = input.SourceTensor(route.tensor);
  if (route.region.empty() || !Holds(source, route.source_rank, tensor,
                                     route.source_copy, route.region)) {
    return wrong(absl::StrCat(
        "the source holds ",
        RegionsText(source, route.source_rank, tensor, route.source_copy)));
  }
  return absl::OkStatus();
}

absl::Status CheckZero(const PlanInput& input, const ZeroRegion& zero) {
  RETURN_IF_ERROR(CheckTensor(input, zero.tensor));
  if (!Intersect(zero.region, input.CommonBox(zero.tensor)).has_value()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      input.tensor(zero.tensor).Id(), " ", zero.region.DebugString(),
      " is to become zero, but the source has ",
      input.CommonBox(zero.tensor).DebugString()));
}

// That the arrivals tile the rank's regions of the tensor.
absl::Status CheckRegions(const vps::Layout& target, int rank, int tensor,
                          absl::Span<const Arrival> arrivals) {
  absl::Status status;
  size_t placed = 0;
  target.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& region) {
    std::vector<vps::Box> boxes;
    for (const Arrival& arrival : arrivals) {
      if (arrival.copy != region.copy) continue;
      if (Intersect(arrival.region, region.global).has_value()) {
        boxes.push_back(arrival.region);
      }
    }
    placed += boxes.size();
    if (status.ok()) status = vps::CheckExactCover(region.global, boxes);
  });
  if (placed == arrivals.size()) return status;
  for (const Arrival& arrival : arrivals) {
    if (!Holds(target, rank, tensor, arrival.copy, arrival.region)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "box ", arrival.region.DebugString(), " lies outside of ",
          RegionsText(target, rank, tensor, arrival.copy)));
    }
  }
  return status;
}

}  // namespace

absl::Status CheckCover(const PlanInput& input, int target_rank,
                        absl::Span<const Route> routes,
                        absl::Span<const ZeroRegion> zeros) {
  std::vector<std::vector<Arrival>> arrivals(input.num_tensors());
  for (const Route& route : routes) {
    RETURN_IF_ERROR(CheckEnds(input, target_rank, route));
    arrivals[route.tensor].push_back({route.target_copy, route.region});
  }
  for (const ZeroRegion& zero : zeros) {
    RETURN_IF_ERROR(CheckZero(input, zero));
    arrivals[zero.tensor].push_back({zero.copy, zero.region});
  }
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    if (input.MasterOf(tensor) >= 0) {
      if (arrivals[tensor].empty()) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("rank ", target_rank, ", ", input.tensor(tensor).Id(),
                       " is made anew from its master, yet moved"));
    }
    RETURN_IF_ERROR(
        CheckRegions(input.target().layout(), target_rank, tensor,
                     arrivals[tensor]),
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
  return CheckCover(input, plan.target_rank, routes, plan.zeros);
}

}  // namespace dynatrain::transition
