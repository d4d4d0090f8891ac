// What one call of Decide gathers, passed from step to step.
#ifndef OPERATOR_RECONCILE_ROUND_H_
#define OPERATOR_RECONCILE_ROUND_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/job/job.h"
#include "api/job/serials.h"
#include "operator/reconcile/action.h"
#include "operator/reconcile/roster.h"
#include "operator/reconcile/snapshot.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::control {

// The serials of a text of status, which its codec has checked.
inline std::vector<uint32_t> SerialsOf(absl::string_view text) {
  return api::ParseSerials(text).value();
}

struct Round {
  Round(const Snapshot& snapshot, const api::JobSpec& job_spec)
      : seen(snapshot),
        spec(job_spec),
        roster(snapshot, job_spec.ranks_per_replica),
        next(snapshot.job.status) {}

  const Snapshot& seen;
  const api::JobSpec& spec;
  const Roster roster;
  api::JobStatus next;          // what status will be
  std::vector<Action> actions;  // after the write, if there is one

  // Why the job has fewer pods in training than wished, if one can tell.
  std::string shortage_reason;  // CamelCase
  std::string shortage;

  absl::Duration requeue = absl::InfiniteDuration();
  std::string requeue_why;

  absl::Time now() const { return seen.now; }
  const api::JobMetadata& job() const { return seen.job.metadata; }

  // Of the world that runs, in rank order; empty before the first start.
  std::vector<uint32_t> members() const { return SerialsOf(next.members); }
  std::optional<vps::AxisSizes> layout() const {
    if (next.layout.text.empty()) return std::nullopt;
    return *vps::AxisSizes::Parse(next.layout.text);
  }

  // A member has come to the end of the data.
  bool finishing() const {
    const std::vector<uint32_t> serials = members();
    return std::any_of(serials.begin(), serials.end(), [&](uint32_t serial) {
      return roster.At(serial).finished;
    });
  }

  void Do(Action action) { actions.push_back(std::move(action)); }

  // The earliest of all requests counts.
  void LookAgainAt(absl::Time time, absl::string_view why) {
    const absl::Duration delay = std::max(time - now(), absl::Milliseconds(10));
    if (delay >= requeue) return;
    requeue = delay;
    requeue_why = std::string(why);
  }

  Fence fence(int64_t generation, std::string plan_digest = "") const {
    return {seen.term, static_cast<uint64_t>(generation),
            std::move(plan_digest)};
  }
};

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_ROUND_H_
