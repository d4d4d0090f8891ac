// ProcessPlan: one process's part of a plan, computed by it alone.
//
//   ASSIGN_OR_RETURN(PlanInput input, PlanInput::Create(source, target));
//   ASSIGN_OR_RETURN(ProcessPlan plan, PlanForProcess(input, process_id));
//   for (const PeerExchange& peer : plan.peers) { ... }
//
// The union over the processes is the whole plan, and what a process sends to a
// peer is, in the same order, what the peer receives from it.
#ifndef TRANSITION_PLAN_PROCESS_PLAN_H_
#define TRANSITION_PLAN_PROCESS_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "transition/plan/blobs.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/route_list.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// A region of the target world that no source has: padding that the target
// alone chose. It becomes zero.
struct ZeroRegion {
  int tensor = 0;
  int copy = 0;
  vps::Box region;
  friend auto operator<=>(const ZeroRegion&, const ZeroRegion&) = default;
  friend bool operator==(const ZeroRegion&, const ZeroRegion&) = default;
};

// All traffic with one other process, in both directions.
struct PeerExchange {
  Process peer;
  int peer_source_rank = -1;  // -1 if it joins
  int peer_target_rank = -1;  // -1 if it leaves
  RouteList send;             // ascending
  RouteList receive;
  std::vector<BlobRoute> send_blobs;  // after the routes, ascending
  std::vector<BlobRoute> receive_blobs;
  int64_t send_bytes = 0;  // without blobs, whose sizes no plan knows
  int64_t receive_bytes = 0;
};

// Without weights that are made anew, but for gathered_bytes.
struct ByteTotals {
  int64_t kept_bytes = 0;     // stays in the process, adopted or copied
  int64_t adopted_bytes = 0;  // of those, without a copy
  int64_t sent_bytes = 0;
  int64_t received_bytes = 0;
  int64_t zero_bytes = 0;
  // Lower bound of received_bytes: needed, not held before and not zero.
  int64_t minimal_bytes = 0;
  // What making weights anew receives besides (regenerate.h).
  int64_t gathered_bytes = 0;
};

struct ProcessPlan {
  uint64_t process_id = 0;
  int source_rank = -1;           // -1 if it joins
  int target_rank = -1;           // -1 if it leaves
  LocalRouteList local;           // ascending
  std::vector<ZeroRegion> zeros;  // ascending
  // Weights that the target rank makes anew once all has moved. Ascending.
  std::vector<Regenerated> regenerated;
  std::vector<BlobRoute> local_blobs;
  // In the order of the XOR schedule, see PeerStep. Only those with traffic.
  std::vector<PeerExchange> peers;
  ByteTotals bytes;
  // Sums modulo 2^64 of HashOf over the remote routes; see there.
  uint64_t sent_hash = 0;
  uint64_t received_hash = 0;
};

// The step at which two processes, given by their union indices, meet: each
// goes through its peers by ascending step. A pair has one step, both count
// upwards, so whoever waits waits for somebody at a lower step: no cycle, for
// any number of processes.
constexpr int PeerStep(int union_index_a, int union_index_b) {
  return union_index_a ^ union_index_b;
}

// Returns kNotFound if the process is in neither world.
absl::StatusOr<ProcessPlan> PlanForProcess(const PlanInput& input,
                                           uint64_t process_id);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_PROCESS_PLAN_H_
