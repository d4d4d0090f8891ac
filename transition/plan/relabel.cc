#include "transition/plan/relabel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/plan/kept_matrix.h"

namespace dynatrain::transition {
namespace {

// The given rank whose process each rank gets.
using Order = std::vector<int>;

struct Found {
  Order order;
  int64_t bound_bytes = 0;
};

// Of n units in n places, the best or a good one: the unit of each place.
struct Places {
  std::vector<int> place_of_unit;
  int64_t bound_bytes = 0;
};

Places Assign(int n, absl::Span<const Worth> worth, int max_exact) {
  if (n <= max_exact) {
    Places places = {BestAssignment(n, worth)};
    places.bound_bytes = SumOf(n, worth, places.place_of_unit).bytes;
    return places;
  }
  std::vector<int> as_given(n);
  std::iota(as_given.begin(), as_given.end(), 0);
  std::vector<int> greedy = GreedyAssignment(n, worth);
  const bool better = SumOf(n, worth, greedy) > SumOf(n, worth, as_given);
  return {better ? std::move(greedy) : std::move(as_given),
          AssignmentBound(n, worth)};
}

class Relabeler {
 public:
  Relabeler(const PlanInput& input, const RelabelOptions& options)
      : input_(input), options_(options), kept_(ComputeKeptMatrix(input)) {
    std::map<uint32_t, std::vector<int>> ranks_of_member;
    for (int rank = 0; rank < size(); ++rank) {
      ranks_of_member[MemberOf(rank)].push_back(rank);
    }
    for (auto& [member, ranks] : ranks_of_member) {
      blocks_.push_back(std::move(ranks));
    }
    std::sort(blocks_.begin(), blocks_.end());
  }

  int size() const { return input_.target().size(); }

  int64_t KeptBytes(const Order& order) const {
    int64_t bytes = 0;
    for (int rank = 0; rank < size(); ++rank) {
      bytes += WorthOf(order[rank], rank).bytes;
    }
    return bytes;
  }

  Order AsGiven() const {
    Order order(size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  Found Best() const {
    Found whole = ByMembers();
    // Of one member, or of members of one rank each, all orders are whole.
    const bool all_whole =
        blocks_.size() == 1 || static_cast<int>(blocks_.size()) == size();
    if (all_whole || options_.unit == RelabelUnit::kMember) return whole;
    Found free = ByRanks();
    const bool keeps_more = KeptBytes(free.order) > KeptBytes(whole.order);
    return {keeps_more ? std::move(free.order) : std::move(whole.order),
            free.bound_bytes};
  }

  bool MembersWhole(const Order& order) const {
    return std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
      return std::all_of(block.begin(), block.end(), [&](int rank) {
        return MemberOf(order[rank]) == MemberOf(order[block[0]]);
      });
    });
  }

 private:
  uint32_t MemberOf(int rank) const {
    return input_.target().process(rank).member;
  }

  // Of the process of given rank `given` at `rank`.
  Worth WorthOf(int given, int rank) const {
    const int source = input_.SourceRankOfTarget(given);
    return {.bytes = source < 0 ? 0 : kept_.at(source, rank),
            .second = MemberOf(given) == MemberOf(rank),
            .third = given == rank};
  }

  std::vector<Worth> WorthsOf(const std::vector<int>& given,
                              const std::vector<int>& ranks) const {
    std::vector<Worth> worths;
    worths.reserve(given.size() * ranks.size());
    for (int g : given) {
      for (int rank : ranks) worths.push_back(WorthOf(g, rank));
    }
    return worths;
  }

  Found ByRanks() const {
    const Order all = AsGiven();
    const Places places =
        Assign(size(), WorthsOf(all, all), options_.max_exact);
    Found found = {Order(size()), places.bound_bytes};
    for (int given = 0; given < size(); ++given) {
      found.order[places.place_of_unit[given]] = given;
    }
    return found;
  }

  // Members change places with members of as many ranks; inside each place its
  // processes are in the best order.
  Found ByMembers() const {
    Found found = {Order(size())};
    std::map<size_t, std::vector<int>> blocks_of_size;
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      blocks_of_size[blocks_[i].size()].push_back(i);
    }
    for (const auto& blocks : blocks_of_size) {
      found.bound_bytes += PlaceBlocks(blocks.second, found.order);
    }
    return found;
  }

  // Returns the bound.
  int64_t PlaceBlocks(const std::vector<int>& alike, Order& order) const {
    const int n = static_cast<int>(alike.size());
    std::vector<Worth> worths;
    // What the inner orders may keep beyond those found, if they are large.
    int64_t inner_slack = 0;
    for (int unit = 0; unit < n; ++unit) {
      int64_t slack = 0;
      for (int place = 0; place < n; ++place) {
        const std::vector<int>& given = blocks_[alike[unit]];
        const auto inner = WorthsOf(given, blocks_[alike[place]]);
        const int ranks = static_cast<int>(given.size());
        const Places places = Assign(ranks, inner, options_.max_exact);
        worths.push_back(SumOf(ranks, inner, places.place_of_unit));
        slack = std::max(slack, places.bound_bytes - worths.back().bytes);
      }
      inner_slack += slack;
    }
    const Places places = Assign(n, worths, options_.max_exact);
    for (int unit = 0; unit < n; ++unit) {
      const std::vector<int>& given = blocks_[alike[unit]];
      const std::vector<int>& ranks =
          blocks_[alike[places.place_of_unit[unit]]];
      const Places inner = Assign(static_cast<int>(given.size()),
                                  WorthsOf(given, ranks), options_.max_exact);
      for (size_t i = 0; i < given.size(); ++i) {
        order[ranks[inner.place_of_unit[i]]] = given[i];
      }
    }
    return places.bound_bytes + inner_slack;
  }

  const PlanInput& input_;
  const RelabelOptions options_;
  const KeptMatrix kept_;
  std::vector<std::vector<int>> blocks_;  // ranks of each member, ascending
};

absl::Status CheckOptions(const RelabelOptions& options) {
  if (options.max_exact < 1 || options.max_exact > kMaxAssignmentSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("relabel: max_exact is ", options.max_exact,
                     "; it lies in 1..", kMaxAssignmentSize));
  }
  return absl::OkStatus();
}

// For worlds of which a matrix of all pairs would take gigabytes.
Relabeling AsGiven(const PlanInput& input) {
  const GivenKept given = ComputeGivenKept(input);
  return {.target = input.target(),
          .given_kept_bytes = given.kept_bytes,
          .kept_bytes = given.kept_bytes,
          .bound_bytes = given.reachable_bytes};
}

}  // namespace

std::string Relabeling::DebugString() const {
  return absl::StrCat("keeps ", kept_bytes, " B rather than ", given_kept_bytes,
                      " B, at most ", bound_bytes, " B; ", changed_ranks,
                      " ranks change",
                      members_whole ? "" : "; members are torn apart");
}

absl::StatusOr<Relabeling> Relabel(const PlanInput& input,
                                   const RelabelOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (input.target().size() > kMaxAssignmentSize) return AsGiven(input);
  const Relabeler relabeler(input, options);
  const Found found = relabeler.Best();
  Relabeling result = {
      .target = {},
      .given_kept_bytes = relabeler.KeptBytes(relabeler.AsGiven()),
      .kept_bytes = relabeler.KeptBytes(found.order),
      .bound_bytes = found.bound_bytes,
      .members_whole = relabeler.MembersWhole(found.order)};
  std::vector<Process> processes;
  for (int rank = 0; rank < relabeler.size(); ++rank) {
    processes.push_back(input.target().process(found.order[rank]));
    if (found.order[rank] != rank) ++result.changed_ranks;
  }
  ASSIGN_OR_RETURN(result.target, World::Create(input.target().layout(),
                                                std::move(processes)));
  return result;
}

}  // namespace dynatrain::transition
