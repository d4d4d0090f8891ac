// TransferPlan: all that a transfer is, of the whole world: which moves go
// together as collectives, in which order the others go, how long it takes, and
// why. Each rank that makes it from the same moves, figures and options gets
// the same.
//
//   ASSIGN_OR_RETURN(Moves moves, MovesOf(input));
//   ASSIGN_OR_RETURN(TransferPlan plan, PlanTransfer(moves, cluster));
//   MakePrograms(plan.moves, plan.Schedules(), digest);
#ifndef TRANSITION_SCHEDULE_TRANSFER_PLAN_H_
#define TRANSITION_SCHEDULE_TRANSFER_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/fingerprint.h"
#include "transition/plan/agreement.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/collective.h"
#include "transition/schedule/collective_options.h"
#include "transition/schedule/moves.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

struct TransferOptions {
  ScheduleOptions schedule;
  CollectiveOptions collectives;

  friend bool operator==(const TransferOptions&,
                         const TransferOptions&) = default;
};

struct TransferPlan {
  // Stream 0: what goes point to point; the others are those of collectives.
  Moves moves;
  // All that were considered, with the arithmetic. Those that were chosen have
  // their streams numbered as in `moves`.
  std::vector<Collective> collectives;
  ScheduleChoice rest;  // of stream 0
  // Of all moves point to point, to compare with; equal to `rest` if no
  // collective was chosen.
  int64_t plain_ns = 0;
  // Each collective begins when those before it are done at all its ranks and
  // NICs, the rest after all of them; what overlaps more is not counted.
  int64_t ns = 0;

  // Of the lanes, then of the collectives: channel by channel.
  std::vector<Schedule> Schedules() const;
  // Of all schedules: ranks that agree on it do the same.
  Fingerprint Digest() const;
  // Collectives with the arithmetic, then the rest.
  std::string DebugString() const;
};

// If collectives and rest together take longer than all moves point to point,
// the latter is the plan. Returns what ChooseSchedule returns, and
// kInvalidArgument if an option is out of range or moves have collectives,
// or pass on what was received, already.
absl::StatusOr<TransferPlan> PlanTransfer(const Moves& moves,
                                          const ClusterModel& cluster,
                                          const TransferOptions& options = {});

// What ranks that use a TransferPlan have to have in common: beside the plan's
// own parts (PlanInput::agreement) the cluster's figures and all options.
Agreement TransferAgreement(Agreement plan_agreement,
                            const ClusterModel& cluster,
                            const TransferOptions& options);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_TRANSFER_PLAN_H_
