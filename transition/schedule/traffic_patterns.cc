#include "transition/schedule/traffic_patterns.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

// Flows of `units(i, j)` x unit_bytes where that is a byte at least.
Traffic FromUnits(int num_ranks, int64_t unit_bytes,
                  absl::FunctionRef<double(int, int)> units) {
  std::vector<Flow> flows;
  for (int i = 0; i < num_ranks; ++i) {
    for (int j = 0; j < num_ranks; ++j) {
      const int64_t bytes = std::llround(units(i, j) * unit_bytes);
      if (i != j && bytes > 0) flows.push_back({i, j, bytes});
    }
  }
  return *Traffic::Create(num_ranks, std::move(flows));
}

double Overlap(double a_begin, double a_end, double b_begin, double b_end) {
  return std::max(0.0, std::min(a_end, b_end) - std::max(a_begin, b_begin));
}

// One run of bytes held by the first `sources` ranks in equal parts, wanted by
// the first `targets`.
Traffic Repartition(int num_ranks, int sources, int targets,
                    int64_t unit_bytes) {
  return FromUnits(num_ranks, unit_bytes, [&](int i, int j) {
    if (i >= sources || j >= targets) return 0.0;
    return sources * Overlap(static_cast<double>(i) / sources,
                             static_cast<double>(i + 1) / sources,
                             static_cast<double>(j) / targets,
                             static_cast<double>(j + 1) / targets);
  });
}

// TP8 x DP8 -> TP4 x DP16 over 64 ranks with ZeRO, tp fastest.
Traffic TensorParallelChange(bool same_dim, int64_t unit_bytes) {
  return FromUnits(64, unit_bytes, [&](int i, int j) {
    const double d = i / 8, t = i % 8, e = j / 4, u = j % 4;
    if (same_dim) {  // both cut the same dim: intervals of one line
      return 64 * Overlap((t + d / 8) / 8, (t + (d + 1) / 8) / 8,
                          (u + e / 16) / 4, (u + (e + 1) / 16) / 4);
    }
    return 64 * Overlap(d / 8, (d + 1) / 8, e / 16, (e + 1) / 16) *
           Overlap(t / 8, (t + 1) / 8, u / 4, (u + 1) / 4);
  });
}

}  // namespace

Traffic UniformTraffic(int num_ranks, int64_t bytes) {
  return FromUnits(num_ranks, bytes, [](int, int) { return 1.0; });
}

Traffic SparseTraffic(int num_ranks, int peers, int64_t bytes,
                      std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(1, 2);
  std::vector<double> units(static_cast<size_t>(num_ranks) * num_ranks);
  for (int i = 0; i < num_ranks; ++i) {
    for (int k = 0; k < peers; ++k) {
      units[i * static_cast<size_t>(num_ranks) + random() % num_ranks] +=
          uniform(random);
    }
  }
  return FromUnits(num_ranks, bytes, [&](int i, int j) {
    return units[i * static_cast<size_t>(num_ranks) + j];
  });
}

std::vector<NamedTraffic> StudyPatterns(int64_t unit_bytes) {
  std::mt19937_64 random(1);
  std::vector<NamedTraffic> patterns;
  for (const int ranks : {16, 48, 64}) {
    const auto add = [&](const char* name, Traffic traffic) {
      patterns.push_back({absl::StrCat(name, " ", ranks), std::move(traffic)});
    };
    std::uniform_real_distribution<double> uniform(0, 1);
    std::exponential_distribution<double> exponential(1);
    add("uniform", UniformTraffic(ranks, unit_bytes));
    add("random", FromUnits(ranks, unit_bytes,
                            [&](int, int) { return uniform(random); }));
    add("heavy tail", FromUnits(ranks, unit_bytes, [&](int, int) {
          return std::pow(exponential(random), 3);
        }));
    add("sparse", SparseTraffic(ranks, 4, unit_bytes, random));
  }
  patterns.push_back({"ZeRO 64 -> 48", Repartition(64, 64, 48, unit_bytes)});
  patterns.push_back({"ZeRO 48 -> 64", Repartition(64, 48, 64, unit_bytes)});
  patterns.push_back({"ZeRO 64 -> 60", Repartition(64, 64, 60, unit_bytes)});
  patterns.push_back(
      {"TP8DP8 -> TP4DP16, same dim", TensorParallelChange(true, unit_bytes)});
  patterns.push_back(
      {"TP8DP8 -> TP4DP16, two dims", TensorParallelChange(false, unit_bytes)});
  return patterns;
}

Traffic RandomSkewedTraffic(int max_ranks, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::exponential_distribution<double> exponential(1);
  const int ranks = 2 + static_cast<int>(random() % (max_ranks - 1));
  const double density = std::pow(uniform(random), 2) + 1.0 / ranks;
  const double skew = 4 * uniform(random);
  const double hot_factor = random() % 2 ? 1 : 20 * uniform(random) + 1;
  const int64_t unit_bytes = int64_t{1} << (random() % 31);
  std::vector<double> weight(2 * static_cast<size_t>(ranks), 1);
  for (double& it : weight) {
    if (random() % 8 == 0) it = hot_factor;
  }
  return FromUnits(ranks, unit_bytes, [&](int i, int j) {
    if (uniform(random) > density) return 0.0;
    return weight[2 * i] * weight[2 * j + 1] *
           std::pow(exponential(random), skew);
  });
}

}  // namespace dynatrain::transition
