#include "operator/reconcile/events.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "operator/reconcile/condition.h"
#include "operator/reconcile/history.h"

namespace dynatrain::control {
namespace {

void AddTransition(const api::JobStatus& before, const api::JobStatus& after,
                   std::vector<RecordEvent>& events) {
  if (!after.transition) return;
  const api::TransitionStatus& now = *after.transition;
  if (before.transition && before.transition->id == now.id &&
      before.transition->phase == now.phase) {
    return;
  }
  const std::string title = TransitionTitle(now);
  const auto add = [&](bool warning, const char* reason, std::string note) {
    events.push_back({warning, reason,
                      absl::StrCat("ResizeToGeneration", now.generation),
                      std::move(note)});
  };
  if (now.phase == "Planned") {
    add(false, "ResizePlanned", absl::StrCat(title, ": ", now.reason));
  } else if (now.phase == "Committed") {
    add(false, "ResizeCommitted", title);
  } else if (now.phase == "Released") {
    add(false, "ResizeDone", now.message);
  } else if (now.phase == "Aborted") {
    add(true, "ResizeAborted", absl::StrCat(title, ": ", now.message));
  } else if (now.phase == "Superseded") {
    add(false, "ResizeSuperseded", absl::StrCat(title, ": ", now.message));
  }
}

// Conditions whose turning is news, and what the event is called.
struct Turning {
  const char* type;
  bool status;
  bool warning;
  const char* event;
  bool again = false;  // another message is news too
  // Only with this reason: an end for another one is told by its own event.
  absl::string_view reason = "";
};
constexpr Turning kTurnings[] = {
    {"Accepted", false, true, "InvalidSpec", /*again=*/true},
    {"LayoutFeasible", false, true, "LayoutInfeasible", /*again=*/true},
    {"ModelAsTold", false, true, "ModelDiffers", /*again=*/true},
    {"Degraded", true, true, "Degraded"},
    {"Degraded", false, false, "Recovered", false, "AsWished"},
    {"StateLost", true, true, "StateLost"},
    {"Suspended", true, false, "Suspended"},
    {"Suspended", false, false, "Resumed"},
    {"Complete", true, false, "Completed"},
    {"Failed", true, true, "Failed"},
};

void AddConditions(const api::JobStatus& before, const api::JobStatus& after,
                   std::vector<RecordEvent>& events) {
  for (const Turning& turning : kTurnings) {
    const api::Condition* now = FindCondition(after, turning.type);
    if (now == nullptr || now->status != turning.status) continue;
    if (!turning.reason.empty() && now->reason != turning.reason) continue;
    const api::Condition* then = FindCondition(before, turning.type);
    // One that was never there has not turned to the good.
    if (then == nullptr && !turning.warning && !turning.status) continue;
    const bool news = then == nullptr || then->status != now->status ||
                      then->reason != now->reason ||
                      (turning.again && then->message != now->message);
    if (!news) continue;
    std::string note = now->message;
    if (note.empty() && then != nullptr && !then->message.empty()) {
      note = absl::StrCat("no longer: ", then->message);
    }
    events.push_back(
        {turning.warning, turning.event, now->reason, std::move(note)});
  }
}

}  // namespace

std::vector<RecordEvent> EventsOf(const api::JobStatus& before,
                                  const api::JobStatus& after) {
  std::vector<RecordEvent> events;
  AddTransition(before, after, events);
  AddConditions(before, after, events);
  return events;
}

}  // namespace dynatrain::control
