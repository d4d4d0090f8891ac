#include "operator/reconcile/endings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "operator/reconcile/condition.h"
#include "operator/reconcile/loss.h"

namespace dynatrain::control {
namespace {

// Members that ended otherwise than by coming to the end of the data.
std::vector<uint32_t> LostMembers(const Round& round) {
  std::vector<uint32_t> lost;
  for (const uint32_t serial : round.members()) {
    const RosterEntry entry = round.roster.At(serial);
    if (entry.gone && !entry.finished) lost.push_back(serial);
  }
  return lost;
}

// "gpt-1 (exit code 137, OOMKilled)".
std::string HowItEnded(const Round& round, uint32_t serial) {
  const RosterEntry entry = round.roster.At(serial);
  std::string how = "its pod is gone";
  if (entry.pod != nullptr && entry.pod->exit_code) {
    how = absl::StrCat("exit code ", *entry.pod->exit_code);
  }
  if (entry.pod != nullptr && !entry.pod->message.empty()) {
    absl::StrAppend(&how, ", ", entry.pod->message);
  }
  return absl::StrCat(round.roster.NameOf(serial), " (", how, ")");
}

// Forgets the world that ran. Generations go on counting: a late message of the
// old world matches nothing.
void ForgetWorld(api::JobStatus& status) {
  status.members.clear();
  status.layout = {};
  status.replicas = 0;
  status.manifest_digest.clear();
  status.step = 0;
  status.loss.clear();
  status.retry.reset();
  status.pod_failures.reset();
  status.first_serial = status.next_serial;
}

// No pod trains, and none is to: what was said about them holds no more.
void Rest(Round& round, absl::string_view phase, absl::string_view reason,
          absl::string_view message) {
  round.next.phase = std::string(phase);
  round.next.ready = "0/0";
  SetCondition(round, "Running", false, reason, message);
  for (const char* type : {"Resizing", "Degraded"}) {
    if (FindCondition(round.next, type) != nullptr) {
      SetCondition(round, type, false, phase, "");
    }
  }
}

void Fail(Round& round, absl::string_view reason, absl::string_view message) {
  Rest(round, "Failed", "Failed", message);
  round.next.reason = std::string(message);
  SetCondition(round, "Failed", true, reason, message);
}

}  // namespace

bool IsOver(const api::JobStatus& status) {
  return status.phase == "Complete" || status.phase == "Failed";
}

bool NoteNamespaceEnding(Round& round) {
  const auto& refused = round.seen.create_error;
  if (!refused || !refused->namespace_ends) return false;
  Fail(round, "NamespaceTerminating",
       absl::StrCat("namespace ", round.job().namespace_name,
                    " is being deleted, so no pod can be created in it"));
  return true;
}

bool NoteCompletion(Round& round) {
  const std::vector<uint32_t> members = round.members();
  const bool all =
      std::all_of(members.begin(), members.end(), [&](uint32_t serial) {
        const RosterEntry entry = round.roster.At(serial);
        return entry.gone && entry.finished;
      });
  if (members.empty() || !all) return false;
  const std::string message = absl::StrCat(
      "all ranks have come to the end of the data at step ", round.next.step);
  Rest(round, "Complete", "Finished", message);
  round.next.reason.clear();
  SetCondition(round, "Complete", true, "Finished", message);
  return true;
}

bool NoteLostState(Round& round) {
  const std::vector<uint32_t> lost = LostMembers(round);
  if (lost.empty()) return false;
  std::vector<std::string> names;
  for (const uint32_t serial : lost) names.push_back(HowItEnded(round, serial));
  const std::string message = absl::StrCat(
      absl::StrJoin(names, ", "), " of generation ", round.next.generation,
      " ended without handing over: ", DescribeLoss(round, lost));
  SetCondition(round, "StateLost", true, "MemberDied", message);
  if (round.spec.on_state_lost == api::OnStateLost::kFail) {
    Fail(round, "StateLost", message);
    return true;
  }
  ForgetWorld(round.next);
  ++round.next.restarts;
  round.next.phase = "Pending";
  round.next.reason = absl::StrCat("starting again from init: ", message);
  SetCondition(round, "Running", false, "Restarting", message);
  return true;
}

bool NoteSuspension(Round& round) {
  if (!round.spec.suspend) {
    if (Holds(round.next, "Suspended")) {
      SetCondition(round, "Suspended", false, "Resumed",
                   "spec.suspend is false");
    }
    return false;
  }
  if (!Holds(round.next, "Suspended")) {
    std::string message = "no pods are created";
    if (!round.next.members.empty()) {
      message = absl::StrCat(
          "pods are ended and the state of step ", round.next.step,
          " with them, as this version keeps none without pods; when "
          "spec.suspend is false again the job starts from init, at step 0");
      SetCondition(round, "StateLost", true, "SuspendedByUser", message);
    }
    SetCondition(round, "Suspended", true, "SuspendedByUser", message);
  }
  if (round.next.phase != "Suspended") ForgetWorld(round.next);
  Rest(round, "Suspended", "Suspended", "spec.suspend is true");
  round.next.reason.clear();
  return true;
}

}  // namespace dynatrain::control
