#include "operator/solver/choose.h"

#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "operator/solver/layouts.h"

namespace dynatrain::control {
namespace {

using vps::AxisSizes;

// Larger is better; the last entries only make it a total order.
auto Preference(const AxisSizes& layout,
                const std::optional<AxisSizes>& running) {
  const auto kept = [&](int (AxisSizes::*size)() const) {
    return running && (layout.*size)() == ((*running).*size)();
  };
  return std::make_tuple(kept(&AxisSizes::tp), kept(&AxisSizes::pp),
                         kept(&AxisSizes::ep), kept(&AxisSizes::rep),
                         layout.dp(), -layout.pp(), -layout.tp(), -layout.ep(),
                         -layout.rep());
}

std::string DescribeAxis(absl::string_view name, const api::AxisRange& range) {
  if (range.min == range.max) return absl::StrCat(name, "=", range.min);
  if (range.max == api::AxisRange::kNoLimit) {
    return absl::StrCat(name, ">=", range.min);
  }
  return absl::StrCat(name, " ", range.min, "..", range.max);
}

// "tp2, pp1": the axes but dp on which both agree.
std::string KeptAxes(const AxisSizes& layout, const AxisSizes& running) {
  std::vector<std::string> kept;
  for (const absl::string_view axis : vps::kAxisNames) {
    const int size = *layout.size(axis);
    if (axis == "dp" || size != *running.size(axis)) continue;
    if (size == 1 && (axis == "ep" || axis == "rep")) continue;
    kept.push_back(absl::StrCat(axis, size));
  }
  return absl::StrJoin(kept, ", ");
}

std::string Reason(const AxisSizes& layout, int candidates,
                   const api::Parallelism& constraints,
                   const std::optional<AxisSizes>& running) {
  const int world = layout.world_size();
  const std::string ranks =
      absl::StrCat(world, world == 1 ? " rank" : " ranks", " under ",
                   DescribeConstraints(constraints));
  if (running && layout == *running) {
    return absl::StrCat("runs already and is permitted for ", ranks);
  }
  if (candidates == 1) return absl::StrCat("the only layout for ", ranks);
  if (running) {
    if (const std::string kept = KeptAxes(layout, *running); !kept.empty()) {
      return absl::StrCat("of ", candidates, " layouts for ", ranks,
                          " the one that keeps ", kept, " of ",
                          running->ToString(), ", so that least moves");
    }
  }
  return absl::StrCat("of ", candidates, " layouts for ", ranks,
                      " the one with the largest dp");
}

}  // namespace

std::string DescribeConstraints(const api::Parallelism& constraints) {
  std::vector<std::string> axes = {DescribeAxis("dp", constraints.dp),
                                   DescribeAxis("tp", constraints.tp),
                                   DescribeAxis("pp", constraints.pp)};
  const api::AxisRange one;
  if (constraints.ep != one) axes.push_back(DescribeAxis("ep", constraints.ep));
  if (constraints.rep != one) {
    axes.push_back(DescribeAxis("rep", constraints.rep));
  }
  const api::ModelFacts& model = constraints.model;
  if (model.heads != 0) {
    axes.push_back(absl::StrCat("tp divides ", model.heads, " heads"));
  }
  if (model.layers != 0) {
    axes.push_back(absl::StrCat("pp at most ", model.layers, " layers"));
  }
  if (model.experts != 0) {
    axes.push_back(absl::StrCat("ep divides ", model.experts, " experts"));
  }
  return absl::StrJoin(axes, ", ");
}

absl::StatusOr<LayoutChoice> ChooseLayout(
    int world_size, const api::Parallelism& constraints,
    const std::optional<AxisSizes>& running) {
  std::optional<AxisSizes> best;
  int candidates = 0;
  ForEachLayout(world_size, constraints, [&](const AxisSizes& layout) {
    ++candidates;
    if (!best || Preference(layout, running) > Preference(*best, running)) {
      best = layout;
    }
    return true;
  });
  if (!best) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no layout of ", world_size, world_size == 1 ? " rank" : " ranks",
        " satisfies ", DescribeConstraints(constraints)));
  }
  return LayoutChoice{*best, Reason(*best, candidates, constraints, running)};
}

}  // namespace dynatrain::control
