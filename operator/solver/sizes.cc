#include "operator/solver/sizes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "operator/solver/choose.h"
#include "operator/solver/layouts.h"

namespace dynatrain::control {
namespace {

constexpr int kMostEntries = 20;
constexpr int kShortestRange = 5;

std::string Pods(int count) {
  return absl::StrCat(count, count == 1 ? " pod" : " pods");
}

int SmallestFeasibleAbove(const api::JobSpec& spec, int size) {
  for (int n = size + 1; n <= spec.elastic.max_replicas; ++n) {
    if (IsFeasible(spec, n)) return n;
  }
  return 0;
}

// "nearest sizes with a layout: 4 and 6".
std::string Nearest(const api::JobSpec& spec) {
  const int below =
      LargestFeasible(spec, spec.elastic.min_replicas, spec.replicas - 1);
  const int above = SmallestFeasibleAbove(spec, spec.replicas);
  if (below != 0 && above != 0) {
    return absl::StrCat("nearest sizes with a layout: ", below, " and ", above);
  }
  if (below + above != 0) {
    return absl::StrCat("nearest size with a layout: ", below + above);
  }
  return absl::StrCat("no size from ", spec.elastic.min_replicas, " to ",
                      spec.elastic.max_replicas, " has one");
}

}  // namespace

bool IsFeasible(const api::JobSpec& spec, int replicas) {
  return replicas > 0 &&
         HasLayout(replicas * spec.ranks_per_replica, spec.parallelism);
}

int LargestFeasible(const api::JobSpec& spec, int floor, int limit) {
  for (int n = limit; n >= std::max(floor, 1); --n) {
    if (IsFeasible(spec, n)) return n;
  }
  return 0;
}

std::string FeasibleReplicas(const api::JobSpec& spec) {
  std::string text;
  int entries = 0;
  const auto append = [&](const std::string& entry) {
    if (++entries == kMostEntries + 1) absl::StrAppend(&text, ", ...");
    if (entries > kMostEntries) return;
    absl::StrAppend(&text, text.empty() ? "" : ", ", entry);
  };
  const int max = spec.elastic.max_replicas;
  for (int n = spec.elastic.min_replicas;
       n <= max && entries <= kMostEntries;) {
    if (!IsFeasible(spec, n)) {
      ++n;
      continue;
    }
    int end = n + 1;
    while (end <= max && IsFeasible(spec, end)) ++end;
    if (end - n >= kShortestRange) {
      append(absl::StrCat(n, "-", end - 1));
    } else {
      for (int i = n; i < end; ++i) append(absl::StrCat(i));
    }
    n = end;
  }
  return text.empty() ? "none" : text;
}

SizeWish ResolveReplicas(const api::JobSpec& spec, int current) {
  if (IsFeasible(spec, spec.replicas)) return {spec.replicas, true, ""};
  SizeWish wish;
  wish.granted = false;
  wish.reason =
      absl::StrCat(Pods(spec.replicas), " can't run: no layout of ",
                   spec.replicas * spec.ranks_per_replica, " ranks satisfies ",
                   DescribeConstraints(spec.parallelism), "; ", Nearest(spec));
  if (spec.elastic.infeasible_policy == api::InfeasiblePolicy::kRoundDown) {
    wish.replicas =
        LargestFeasible(spec, spec.elastic.min_replicas, spec.replicas);
    if (wish.replicas != 0) {
      absl::StrAppend(&wish.reason, "; rounded down to ", wish.replicas);
    }
    return wish;
  }
  // What runs goes on, if it may still.
  wish.replicas = current;
  absl::StrAppend(&wish.reason, current == 0
                                    ? "; waiting for a size that can"
                                    : absl::StrCat("; staying at ", current));
  return wish;
}

}  // namespace dynatrain::control
