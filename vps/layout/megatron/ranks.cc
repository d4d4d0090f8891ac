#include "vps/layout/megatron/ranks.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain::vps::megatron {
namespace {

// As RankGenerator.name_to_size lists them: what is missing in the order
// string is appended in this order.
constexpr std::array<absl::string_view, 5> kTokens = {"tp", "pp", "dp", "ep",
                                                      "cp"};

absl::Status CheckSize(absl::string_view field, int64_t size, int64_t least) {
  if (size >= least && size <= kMaxWorldSize) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      field, " is ", size, "; it lies in ", least, "..", kMaxWorldSize));
}

absl::Status CheckSizes(const Ranks::Sizes& sizes) {
  RETURN_IF_ERROR(CheckSize("world", sizes.world, 1));
  RETURN_IF_ERROR(CheckSize("tp", sizes.tp, 1));
  RETURN_IF_ERROR(CheckSize("cp", sizes.cp, 1));
  RETURN_IF_ERROR(CheckSize("pp", sizes.pp, 1));
  RETURN_IF_ERROR(CheckSize("ep", sizes.ep, 1));
  RETURN_IF_ERROR(CheckSize("etp", sizes.etp, 0));
  return CheckSize("optimizer_instances", sizes.optimizer_instances, 1);
}

// "8 and 12": the multiples of `step` on both sides of `value`.
std::string NearestMultiples(int64_t value, int64_t step) {
  const int64_t below = value / step * step;
  if (below == 0) return absl::StrCat(step);
  return absl::StrCat(below, " and ", below + step);
}

// "1, 2, 3, 6": what divides both.
std::string CommonDivisors(int64_t a, int64_t b) {
  std::vector<int64_t> divisors;
  const int64_t common = std::gcd(a, b);
  for (int64_t i = 1; i <= common; ++i) {
    if (common % i == 0) divisors.push_back(i);
  }
  return absl::StrJoin(divisors, ", ");
}

// Both products are at most 2^60.
absl::Status CheckWorld(const Ranks::Sizes& sizes, int64_t etp) {
  const int64_t dense = sizes.tp * sizes.cp * sizes.pp;
  const int64_t expert = etp * sizes.ep * sizes.pp;
  if (sizes.world % dense == 0 && sizes.world % expert == 0) {
    return absl::OkStatus();
  }
  const bool is_dense = sizes.world % dense != 0;
  const std::string product =
      is_dense ? absl::StrCat("tp ", sizes.tp, " * cp ", sizes.cp, " * pp ",
                              sizes.pp, " = ", dense)
               : absl::StrCat("etp ", etp, " * ep ", sizes.ep, " * pp ",
                              sizes.pp, " = ", expert);
  // The least world that both divide may be larger than any.
  const int64_t gcd = std::gcd(dense, expert);
  const bool fits = dense / gcd <= kMaxWorldSize &&
                    dense / gcd * (expert / kMaxWorldSize) <= kMaxWorldSize &&
                    dense / gcd * expert <= kMaxWorldSize;
  return absl::InvalidArgumentError(absl::StrCat(
      "world ", sizes.world, " is not divisible by ", product,
      fits ? absl::StrCat("; the nearest worlds that all sizes divide are ",
                          NearestMultiples(sizes.world, dense / gcd * expert))
           : ""));
}

// The axes of the order string, fastest first.
absl::StatusOr<std::vector<std::string>> ParseOrder(absl::string_view order) {
  std::vector<std::string> tokens;
  for (absl::string_view token : absl::StrSplit(order, '-')) {
    if (std::find(kTokens.begin(), kTokens.end(), token) == kTokens.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "order \"", absl::CHexEscape(order.substr(0, 64)), "\": \"",
          absl::CHexEscape(token.substr(0, 16)),
          "\" is no axis; they are tp, cp, ep, dp and pp, as in \"",
          kDefaultOrder, "\""));
    }
    if (std::find(tokens.begin(), tokens.end(), token) != tokens.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("order \"", absl::CHexEscape(order.substr(0, 64)),
                       "\": axis ", token, " is there twice"));
    }
    tokens.emplace_back(token);
  }
  return tokens;
}

// RankGenerator: one mesh in the given order.
absl::StatusOr<Mesh> MakeMesh(
    absl::string_view order, std::vector<std::string> tokens,
    const std::map<std::string, MeshAxis, std::less<>>& axes) {
  for (absl::string_view token : kTokens) {
    if (std::find(tokens.begin(), tokens.end(), token) != tokens.end()) {
      continue;
    }
    const auto it = axes.find(token);
    if (it != axes.end() && it->second.size != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the size of ", it->second.name, " is ", it->second.size,
                       ", but order \"", order, "\" does not say where ", token,
                       " stands; \"", kDefaultOrder, "\" does"));
    }
    tokens.emplace_back(token);
  }
  std::vector<MeshAxis> slowest_first;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    if (const auto it = axes.find(*token); it != axes.end()) {
      slowest_first.push_back(it->second);
    }
  }
  return Mesh::Create(std::move(slowest_first));
}

std::vector<std::string> AxesAmong(const Mesh& mesh,
                                   absl::Span<const absl::string_view> names) {
  std::vector<std::string> axes;
  for (const MeshAxis& axis : mesh.axes()) {
    if (std::find(names.begin(), names.end(), axis.name) != names.end()) {
      axes.push_back(axis.name);
    }
  }
  return axes;
}

int SizeOf(const Mesh& mesh, absl::string_view axis) {
  return mesh.size(*mesh.AxisIndex(axis));
}

int StrideOf(const Mesh& mesh, absl::string_view axis) {
  return mesh.stride(*mesh.AxisIndex(axis));
}

// Both meshes must have the same pipelines: the lists are equal if and only if
// neighbours on pp are equally far apart.
absl::Status CheckPipelines(const Ranks& ranks, absl::string_view order) {
  if (ranks.pp() == 1) return absl::OkStatus();
  const std::string advice = absl::StrCat(
      "; order \"", kDefaultOrder, "\" does, and so does this one with etp * ",
      "ep = tp * cp = ", ranks.tp() * ranks.cp());
  if (!absl::EndsWith(order, "pp") && ranks.edp() != ranks.dp()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "order \"", order, "\" has not pp last, so that the data parallel ",
        "size of attention and experts must be the same: they are dp ",
        ranks.dp(), " and edp ", ranks.edp(), advice));
  }
  const int dense = StrideOf(ranks.dense(), "pp");
  const int expert = StrideOf(ranks.expert(), "pp");
  if (dense == expert) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "order \"", order, "\" gives attention and experts different pipelines: ",
      "the ranks of a pipeline are ", dense, " and ", expert, " apart",
      advice));
}

absl::Status CheckInstances(const Ranks& ranks) {
  const int instances = ranks.optimizer_instances();
  const int shards = ranks.dp() * ranks.cp();
  if (shards % instances == 0 && ranks.edp() % instances == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "optimizer_instances ", instances, " must divide dp * cp = ", shards,
      " and edp = ", ranks.edp(), ": one of ",
      CommonDivisors(shards, ranks.edp())));
}

}  // namespace

Ranks::Ranks(Mesh dense, Mesh expert)
    : dense_(std::move(dense)), expert_(std::move(expert)) {
  tp_ = SizeOf(dense_, "tp");
  cp_ = SizeOf(dense_, "cp");
  pp_ = SizeOf(dense_, "pp");
  dp_ = SizeOf(dense_, "dp");
  ep_ = SizeOf(expert_, "ep");
  etp_ = SizeOf(expert_, "etp");
  edp_ = SizeOf(expert_, "edp");
  dense_shard_axes_ = AxesAmong(dense_, {"dp", "cp"});
  expert_shard_axes_ = AxesAmong(expert_, {"edp"});
}

absl::StatusOr<Ranks> Ranks::Create(const Sizes& sizes) {
  RETURN_IF_ERROR(CheckSizes(sizes));
  const int64_t etp = sizes.etp == 0 ? sizes.tp : sizes.etp;
  RETURN_IF_ERROR(CheckWorld(sizes, etp));
  ASSIGN_OR_RETURN(const std::vector<std::string> tokens,
                   ParseOrder(sizes.order));
  // All sizes divide the world, which is an int.
  const auto axis = [](const char* name, int64_t size) {
    return MeshAxis{name, static_cast<int>(size)};
  };
  const int64_t dp = sizes.world / (sizes.tp * sizes.cp * sizes.pp);
  const int64_t edp = sizes.world / (etp * sizes.ep * sizes.pp);
  ASSIGN_OR_RETURN(Mesh dense, MakeMesh(sizes.order, tokens,
                                        {{"tp", axis("tp", sizes.tp)},
                                         {"cp", axis("cp", sizes.cp)},
                                         {"dp", axis("dp", dp)},
                                         {"pp", axis("pp", sizes.pp)}}));
  ASSIGN_OR_RETURN(Mesh expert, MakeMesh(sizes.order, tokens,
                                         {{"tp", axis("etp", etp)},
                                          {"ep", axis("ep", sizes.ep)},
                                          {"dp", axis("edp", edp)},
                                          {"pp", axis("pp", sizes.pp)}}));
  Ranks ranks(std::move(dense), std::move(expert));
  ranks.instances_ = static_cast<int>(sizes.optimizer_instances);
  RETURN_IF_ERROR(CheckPipelines(ranks, sizes.order));
  RETURN_IF_ERROR(CheckInstances(ranks));
  return ranks;
}

std::vector<std::vector<int>> RankGroups(const Mesh& mesh,
                                         absl::Span<const std::string> axes) {
  // By what is left of a rank once its coordinates on `axes` are zero. Within
  // a group ranks ascend, which is Megatron's order too.
  std::map<int, std::vector<int>> groups;
  for (int rank = 0; rank < mesh.world_size(); ++rank) {
    int first = rank;
    for (const std::string& name : axes) {
      const int axis = *mesh.AxisIndex(name);
      first -= mesh.Coordinate(rank, axis) * mesh.stride(axis);
    }
    groups[first].push_back(rank);
  }
  std::vector<std::vector<int>> result;
  for (auto& [first, ranks] : groups) result.push_back(std::move(ranks));
  return result;
}

}  // namespace dynatrain::vps::megatron
