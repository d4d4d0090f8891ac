#include "transition/schedule/collective.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "transition/schedule/window_costs.h"

namespace dynatrain::transition {
namespace {

// One message for each pair, with all that it has to move.
std::vector<Parcel> Messages(const Moves& moves,
                             const std::vector<int>& taken) {
  std::vector<Parcel> parcels;
  for (const int index : taken) {  // ascending, so pair by pair
    const Move& move = moves.all()[index];
    if (parcels.empty() || parcels.back().sender != move.sender ||
        parcels.back().receiver != move.receiver) {
      parcels.push_back({move.sender, move.receiver});
    }
    parcels.back().bytes += moves.BytesOf(move.piece);
  }
  return parcels;
}

int64_t MostStaged(const Moves& moves, const std::vector<Move>& made) {
  std::map<int, int64_t> staged;
  int64_t most = 0;
  for (const Move& move : made) {
    if (move.into != Space::kStaging) continue;
    most = std::max(most, staged[move.receiver] += moves.BytesOf(move.piece));
  }
  return most;
}

// Why the collective isn't even compared; empty if it is.
std::string Remark(const CollectiveContext& context, const Collective& it) {
  const CollectiveOptions& options = context.options;
  if (static_cast<int>(it.ranks.size()) < options.min_ranks) {
    return absl::StrCat("no collective: ", it.ranks.size(), " ranks; it takes ",
                        options.min_ranks);
  }
  if (it.bytes < options.min_bytes) {
    return absl::StrCat("no collective: ", it.bytes, " bytes; it takes ",
                        options.min_bytes);
  }
  const int operations =
      MaxWindowOperations(it.schedule, context.moves.num_ranks());
  const int most = context.cluster.figures().max_group_operations;
  if (operations > most) {
    return absl::StrCat("no collective: a window of ", operations,
                        " operations on one rank; it may have ", most);
  }
  const int64_t staged = MostStaged(context.moves, it.moves);
  if (staged > options.max_staging_bytes) {
    return absl::StrCat(
        "no collective: ", staged,
        " bytes to be held for others on one rank; it may hold ",
        options.max_staging_bytes);
  }
  return "";
}

}  // namespace

const char* CollectiveKindName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kAllToAll:
      return "all-to-all";
    case CollectiveKind::kScatter:
      return "scatter";
    case CollectiveKind::kGather:
      return "gather";
  }
  return "unknown";
}

std::string Collective::DebugString() const {
  return absl::StrCat(CollectiveKindName(kind), " of ", bytes, " bytes among ",
                      ranks.size(), " ranks\n", costs.DebugString());
}

void Judge(const CollectiveContext& context, Collective& collective) {
  std::set<int> ranks;
  for (const int index : collective.taken) {
    const Move& move = context.moves.all()[index];
    ranks.insert({move.sender, move.receiver});
    collective.bytes += context.moves.BytesOf(move.piece);
  }
  collective.ranks.assign(ranks.begin(), ranks.end());
  CostComparison& costs = collective.costs;
  costs.ways = {CostOfSending(Messages(context.moves, collective.taken),
                              context.cluster, context.execution)};
  costs.remark = Remark(context, collective);
  if (!costs.remark.empty()) return;
  costs.ways.push_back(CostOfWindows(CollectiveKindName(collective.kind),
                                     collective.schedule, context.cluster,
                                     context.execution));
  if (costs.ways[1].ns() < costs.ways[0].ns()) costs.chosen = 1;
}

}  // namespace dynatrain::transition
