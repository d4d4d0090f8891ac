#include "operator/reconcile/action.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace dynatrain::control {
namespace {

std::string Command(absl::string_view name, const Fence& fence,
                    const std::vector<AgentTarget>& targets) {
  return absl::StrCat(
      name, " term=", fence.term, " g=", fence.generation, " to=[",
      absl::StrJoin(targets, ",",
                    [](std::string* out, const AgentTarget& target) {
                      absl::StrAppend(out, target.serial);
                    }),
      "]");
}

struct Printer {
  std::string operator()(const CreatePod& a) {
    return absl::StrCat("CreatePod ", a.name);
  }
  std::string operator()(const DeletePod& a) {
    return absl::StrCat("DeletePod ", a.name, ": ", a.reason);
  }
  std::string operator()(const WriteStatus& a) {
    return absl::StrCat(
        "WriteStatus phase=", a.status.phase, a.takes_term ? " takes term" : "",
        " transition=", a.status.transition ? a.status.transition->phase : "");
  }
  std::string operator()(const SendGreet& a) {
    return Command("Greet", a.fence, a.targets);
  }
  std::string operator()(const SendPrepare& a) {
    return absl::StrCat(Command("Prepare", a.fence, a.targets), " ",
                        a.transition.source.layout, " -> ",
                        a.transition.target.layout);
  }
  std::string operator()(const SendArm& a) {
    return absl::StrCat(Command("Arm", a.fence, a.targets), " step=", a.step);
  }
  std::string operator()(const SendGo& a) {
    return Command("Go", a.fence, a.targets);
  }
  std::string operator()(const SendCancel& a) {
    return Command("Cancel", a.fence, a.targets);
  }
  std::string operator()(const SendAbort& a) {
    return absl::StrCat(Command("Abort", a.fence, a.targets), ": ", a.reason);
  }
  std::string operator()(const SendCommit& a) {
    return Command("Commit", a.fence, a.targets);
  }
  std::string operator()(const SendDismiss& a) {
    return absl::StrCat(Command("Dismiss", a.fence, a.targets), ": ", a.reason);
  }
  std::string operator()(const RecordEvent& a) {
    return absl::StrCat("Event ", a.reason, ": ", a.note);
  }
  std::string operator()(const RequeueAfter& a) {
    return absl::StrCat("RequeueAfter ", absl::FormatDuration(a.delay), ": ",
                        a.why);
  }
  std::string operator()(const StandDown& a) {
    return absl::StrCat("StandDown: term ", a.term, " has the job");
  }
};

}  // namespace

std::string DebugString(const Action& action) {
  return std::visit(Printer(), action);
}

}  // namespace dynatrain::control
