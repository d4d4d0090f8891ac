// Collective: moves that do better together than one by one, as windows of
// messages in which ranks pass on what they received. It has a channel of its
// own, so it doesn't wait for other messages; its windows are closed, so it
// never waits for ever (0003-schedule, theorem 2).
#ifndef TRANSITION_SCHEDULE_COLLECTIVE_H_
#define TRANSITION_SCHEDULE_COLLECTIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "transition/schedule/cluster_model.h"
#include "transition/schedule/collective_options.h"
#include "transition/schedule/cost.h"
#include "transition/schedule/execution.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

enum class CollectiveKind {
  kBroadcast = 0,  // the same bytes to several ranks: pipelined chains
  kAllToAll = 1,   // equal bytes between all ranks of some nodes: by node
  kScatter = 2,    // one rank to many, different bytes: by node
  kGather = 3,     // many ranks to one: by node
};

// "broadcast", ...
const char* CollectiveKindName(CollectiveKind kind);

struct Collective {
  CollectiveKind kind = CollectiveKind::kBroadcast;
  std::vector<int> ranks;  // ascending; those that send or receive
  int64_t bytes = 0;       // that end up where they are needed
  // Point to point, then the collective if it is considered.
  CostComparison costs;
  // Which of Moves::all() it does, ascending, and what it does instead. Streams
  // are numbered from 0.
  std::vector<int> taken;
  std::vector<Move> moves;
  int num_streams = 0;
  Schedule schedule;
  int64_t begin_ns = 0;  // of the transfer, if it is in a TransferPlan

  bool chosen() const { return costs.chosen > 0; }
  // "broadcast of 4096 bytes among 9 ranks", then the costs.
  std::string DebugString() const;
};

// What collectives are made for.
struct CollectiveContext {
  const Moves& moves;
  const ClusterModel& cluster;
  const CollectiveOptions& options;
  Execution execution;
};

// Fills in ranks, bytes and costs from `taken`, `moves` and `schedule`, and
// chooses. Without a schedule, or with one that holds too much for a window or
// for a rank's staging memory, the plain way is chosen and a remark says why.
void Judge(const CollectiveContext& context, Collective& collective);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_COLLECTIVE_H_
