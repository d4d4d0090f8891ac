// Roster: the pods of a job as a decision looks at them, one entry per serial.
#ifndef OPERATOR_RECONCILE_ROSTER_H_
#define OPERATOR_RECONCILE_ROSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "operator/reconcile/action.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

struct RosterEntry {
  uint32_t serial = 0;
  const PodView* pod = nullptr;               // null: there is no such pod
  const agent::Observation* agent = nullptr;  // null: never heard of
  bool answering = false;                     // `agent` is fresh
  // It will never say anything again: no pod, a pod that ended, or one that
  // should have ended and is silent.
  bool gone = false;
  // It is about to go and its state should leave it by `deadline`.
  bool doomed = false;
  absl::Time deadline = absl::InfiniteFuture();
  bool ready = false;     // all its ranks said hello and none has ended
  bool finished = false;  // a rank has come to the end of the data

  // Counts as one of the pods that are wanted.
  bool live() const { return !gone && !doomed; }
};

class Roster {
 public:
  // Pods with a serial below `first_serial` are left out: see stale().
  Roster(const Snapshot& snapshot, int ranks_per_replica);

  // All pods, by serial.
  const std::vector<RosterEntry>& entries() const { return entries_; }
  // Pods of an earlier start of the job.
  const std::vector<RosterEntry>& stale() const { return stale_; }
  // A serial without a pod is gone.
  RosterEntry At(uint32_t serial) const;

  // "gpt-3".
  std::string NameOf(uint32_t serial) const;
  // A text of transition/commit or of a rank, which know pods by their serials,
  // with names instead: "serial 2 is gone" becomes "gpt-2 is gone".
  std::string WithNames(absl::string_view text) const;
  std::string NamesOf(const std::vector<uint32_t>& serials) const;
  // Of those that have an address.
  std::vector<AgentTarget> Targets(const std::vector<uint32_t>& serials) const;

 private:
  RosterEntry MakeEntry(const Snapshot& snapshot, const PodView& pod,
                        int ranks_per_replica) const;

  std::string job_name_;
  int agent_port_;
  std::vector<RosterEntry> entries_;
  std::vector<RosterEntry> stale_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_ROSTER_H_
