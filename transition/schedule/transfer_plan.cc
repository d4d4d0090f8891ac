#include "transition/schedule/transfer_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "transition/schedule/broadcast.h"
#include "transition/schedule/by_node.h"

namespace dynatrain::transition {
namespace {

// A rank does each collective in a lane of its own, and lanes are few. By node
// it is in four more at most: it is the one of a scatter and of a gather, and
// one of the many of each.
constexpr int kMaxBroadcastsPerRank = 24;

void LeaveOut(Collective& collective, std::string why) {
  collective.costs.chosen = 0;
  collective.costs.remark = std::move(why);
}

// Of too many on one rank, those that save most stay.
void LimitPerRank(int num_ranks, std::vector<Collective>& collectives) {
  std::vector<Collective*> order;
  for (Collective& it : collectives) {
    if (it.chosen()) order.push_back(&it);
  }
  const auto saved_ns = [](const Collective* it) {
    return it->costs.ways[0].ns() - it->costs.best().ns();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Collective* a, const Collective* b) {
                     return saved_ns(a) > saved_ns(b);
                   });
  std::vector<int> count(num_ranks);
  for (Collective* it : order) {
    const bool full = std::any_of(
        it->ranks.begin(), it->ranks.end(),
        [&](int rank) { return count[rank] == kMaxBroadcastsPerRank; });
    if (full) {
      LeaveOut(*it, absl::StrCat("no collective: one of its ranks is in ",
                                 kMaxBroadcastsPerRank,
                                 " that save more; it may be in no others"));
      continue;
    }
    for (const int rank : it->ranks) ++count[rank];
  }
}

std::vector<Collective> Find(const CollectiveContext& context) {
  std::vector<bool> taken(context.moves.all().size());
  std::vector<Collective> found = FindBroadcasts(context);
  LimitPerRank(context.moves.num_ranks(), found);
  for (const Collective& it : found) {
    if (!it.chosen()) continue;
    for (const int i : it.taken) taken[i] = true;
  }
  for (Collective& it : FindByNode(context, taken)) {
    found.push_back(std::move(it));
  }
  return found;
}

// Numbers the streams of the chosen, and puts what they do in place of what
// they take.
absl::StatusOr<Moves> Replace(const Moves& moves,
                              std::vector<Collective>& collectives) {
  std::vector<bool> taken(moves.all().size());
  std::vector<Move> all;
  int streams = 1;
  for (Collective& it : collectives) {
    if (!it.chosen()) continue;
    for (const int i : it.taken) taken[i] = true;
    for (Move& move : it.moves) {
      move.stream += streams;
      all.push_back(move);
    }
    for (Parcel& parcel : it.schedule.parcels) parcel.stream += streams;
    streams += it.num_streams;
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) all.push_back(moves.all()[i]);
  }
  return moves.With(std::move(all));
}

// What a collective keeps busy: its ranks (inside a node a port is a rank) and,
// numbered behind them, its ports between nodes.
std::vector<int> PortsOf(const Collective& collective,
                         const ClusterModel& cluster) {
  std::vector<int> ports(collective.ranks.begin(), collective.ranks.end());
  for (const Parcel& parcel : collective.schedule.parcels) {
    if (cluster.LaneOf(parcel.sender, parcel.receiver) == Lane::kInside) {
      continue;
    }
    for (const int rank : {parcel.sender, parcel.receiver}) {
      ports.push_back(cluster.num_ranks() +
                      cluster.PortOf(Lane::kBetween, rank));
    }
  }
  return ports;
}

// Each begins when those before it are done at all of its ports. Returns when
// all are done.
int64_t SetBegins(const ClusterModel& cluster,
                  std::vector<Collective>& collectives) {
  std::vector<int64_t> done(cluster.num_ranks() +
                            cluster.num_ports(Lane::kBetween));
  int64_t last = 0;
  for (Collective& it : collectives) {
    if (!it.chosen()) continue;
    const std::vector<int> ports = PortsOf(it, cluster);
    for (const int port : ports)
      it.begin_ns = std::max(it.begin_ns, done[port]);
    const int64_t end = it.begin_ns + it.costs.best().ns();
    for (const int port : ports) done[port] = end;
    last = std::max(last, end);
  }
  return last;
}

// Moves are as a plan has them: each from who has it to who needs it.
absl::Status CheckPointToPoint(const Moves& moves) {
  for (const Move& move : moves.all()) {
    const auto refuse = [&](const char* what, const std::string& where) {
      return absl::InvalidArgumentError(
          absl::StrCat("transfer: ", what, " already: ", where, " from rank ",
                       move.sender, " to rank ", move.receiver));
    };
    if (move.stream != 0) {
      return refuse("moves have collectives",
                    absl::StrCat("stream ", move.stream));
    }
    if (move.space != Space::kSource || move.into != Space::kTarget) {
      return refuse("moves pass on what was received",
                    absl::StrCat(SpaceName(move.space), " into ",
                                 SpaceName(move.into), " memory"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TransferPlan> Plain(const Moves& moves,
                                   const ClusterModel& cluster,
                                   const TransferOptions& options) {
  ASSIGN_OR_RETURN(
      ScheduleChoice rest,
      ChooseSchedule(moves.ToTraffic(), cluster, options.schedule));
  const int64_t ns = rest.ns;
  return TransferPlan{.moves = moves,
                      .collectives = {},
                      .rest = std::move(rest),
                      .plain_ns = ns,
                      .ns = ns};
}

// The same with collectives where any is chosen.
absl::StatusOr<TransferPlan> WithCollectives(
    const TransferPlan& plain, std::vector<Collective> collectives,
    const ClusterModel& cluster, const TransferOptions& options) {
  ASSIGN_OR_RETURN(Moves moves, Replace(plain.moves, collectives));
  ASSIGN_OR_RETURN(TransferPlan plan, Plain(moves, cluster, options));
  plan.ns += SetBegins(cluster, collectives);
  plan.plain_ns = plain.ns;
  plan.collectives = std::move(collectives);
  return plan;
}

}  // namespace

std::vector<Schedule> TransferPlan::Schedules() const {
  std::vector<Schedule> schedules;
  for (const LaneChoice& lane : rest.lanes) schedules.push_back(lane.schedule);
  for (const Collective& it : collectives) {
    if (it.chosen()) schedules.push_back(it.schedule);
  }
  return schedules;
}

Fingerprint TransferPlan::Digest() const {
  Fingerprinter digest;
  digest.Append("transfer plan").Append(rest.Digest());
  for (const Collective& it : collectives) {
    if (!it.chosen()) continue;
    digest.Append(static_cast<int>(it.kind)).Append(it.schedule.Digest());
  }
  return digest.Finish();
}

std::string TransferPlan::DebugString() const {
  std::string text;
  for (const Collective& it : collectives) {
    absl::StrAppend(&text, it.DebugString());
  }
  absl::StrAppend(&text, rest.DebugString());
  absl::StrAppendFormat(&text, "in all %.3f ms, point to point %.3f ms\n",
                        ns / 1e6, plain_ns / 1e6);
  return text;
}

absl::StatusOr<TransferPlan> PlanTransfer(const Moves& moves,
                                          const ClusterModel& cluster,
                                          const TransferOptions& options) {
  RETURN_IF_ERROR(CheckCollectiveOptions(options.collectives));
  RETURN_IF_ERROR(CheckPointToPoint(moves));
  ASSIGN_OR_RETURN(TransferPlan plain, Plain(moves, cluster, options));
  if (moves.num_ranks() > options.collectives.max_ranks) return plain;
  std::vector<Collective> found =
      Find({moves, cluster, options.collectives, options.schedule.execution});
  const bool any =
      std::any_of(found.begin(), found.end(),
                  [](const Collective& it) { return it.chosen(); });
  if (any) {
    ASSIGN_OR_RETURN(TransferPlan plan,
                     WithCollectives(plain, found, cluster, options));
    if (plan.ns < plain.ns) return plan;
  }
  for (Collective& it : found) {
    if (!it.chosen()) continue;
    LeaveOut(it, "no collective: with the rest, they take longer in all");
  }
  plain.collectives = std::move(found);
  return plain;
}

Agreement TransferAgreement(Agreement plan_agreement,
                            const ClusterModel& cluster,
                            const TransferOptions& options) {
  Fingerprinter schedule;
  schedule.Append("transfer options")
      .Append(options.schedule.Digest())
      .Append(options.collectives.Digest());
  plan_agreement.Set(AgreedPart::kCluster, cluster.digest());
  plan_agreement.Set(AgreedPart::kSchedule, schedule.Finish());
  return plan_agreement;
}

}  // namespace dynatrain::transition
