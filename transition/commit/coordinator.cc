#include "transition/commit/coordinator.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transition/plan/agreement.h"

namespace dynatrain::transition {
namespace {

using Reach = MemberReport::Reach;

// A member with its report; what it says of other generations is left out.
struct Participant {
  CommitMember member;
  MemberReport report;
  Phase phase = Phase::kNone;  // in the view's generation

  bool answering() const { return report.reach == Reach::kAnswering; }
  bool gone() const { return report.reach == Reach::kGone; }
};

class Round {
 public:
  explicit Round(const TransitionView& view) : view_(view) {
    for (const CommitMember& member : view.members) {
      Participant participant{.member = member, .report = {}};
      participant.report.serial = member.serial;
      for (const MemberReport& report : view.reports) {
        if (report.serial == member.serial) participant.report = report;
      }
      if (participant.answering() &&
          participant.report.generation == view.generation) {
        participant.phase = participant.report.phase;
      }
      participants_.push_back(std::move(participant));
    }
  }

  Decision Decide() const {
    if (view_.record == RecordPhase::kNone ||
        view_.record == RecordPhase::kReleased) {
      return {.action = Action::kDone};
    }
    if (Deposed()) {
      return {.action = Action::kStandDown,
              .reason = absl::StrCat("an agent has seen a higher term than ",
                                     view_.term)};
    }
    if (auto serials = Which([&](const Participant& p) {
          return p.answering() && p.report.term < view_.term;
        });
        !serials.empty()) {
      return {.action = Action::kGreet, .serials = std::move(serials)};
    }
    switch (view_.record) {
      case RecordPhase::kPlanned:
      case RecordPhase::kDraining:
        return Undecided();
      case RecordPhase::kCommitted:
        return RollForward();
      default:
        return RollBack();
    }
  }

 private:
  using Condition = std::function<bool(const Participant&)>;

  std::vector<uint32_t> Which(const Condition& condition) const {
    std::vector<uint32_t> serials;
    for (const Participant& p : participants_) {
      if (condition(p)) serials.push_back(p.member.serial);
    }
    return serials;
  }

  bool Any(const Condition& condition) const {
    return std::any_of(participants_.begin(), participants_.end(), condition);
  }

  bool All(const Condition& condition) const {
    return std::all_of(participants_.begin(), participants_.end(), condition);
  }

  bool Deposed() const {
    return Any([&](const Participant& p) {
      return p.answering() && p.report.term > view_.term;
    });
  }

  std::string PlanDigest() const {
    for (const Participant& p : participants_) {
      if (p.phase != Phase::kNone && !p.report.plan_digest.empty()) {
        return p.report.plan_digest;
      }
    }
    return "";
  }

  Decision Command(Action action, std::vector<uint32_t> serials) const {
    return {.action = action,
            .serials = std::move(serials),
            .plan_digest = PlanDigest()};
  }

  static Decision Wait(absl::string_view what, std::vector<uint32_t> serials) {
    std::string reason =
        absl::StrCat(what, " of ", absl::StrJoin(serials, ", "));
    return {.action = Action::kWait,
            .serials = std::move(serials),
            .reason = std::move(reason)};
  }

  Decision Abandon(std::string reason) const {
    return {.action = view_.superseded ? Action::kWriteSuperseded
                                       : Action::kWriteAborted,
            .plan_digest = PlanDigest(),
            .reason = std::move(reason)};
  }

  // Planned or Draining: neither outcome is written yet.
  Decision Undecided() const {
    const bool draining = view_.record == RecordPhase::kDraining;
    if (std::string reason = TwoStops(); !reason.empty()) {
      return Abandon(std::move(reason));
    }
    // Before anything that speaks against it: when all is verified, going on
    // loses nothing, and a member that leaves has nothing left to give.
    if (draining && AllVerified()) return Command(Action::kWriteCommitted, {});
    if (std::string reason = Failure(); !reason.empty()) {
      return Abandon(std::move(reason));
    }
    if (!view_.give_up.empty()) return Abandon(view_.give_up);
    return draining ? Drain() : Prepare();
  }

  bool AllVerified() const {
    return Any([](const Participant& p) { return p.member.in_target; }) &&
           All([](const Participant& p) {
             return p.phase == Phase::kVerified ||
                    (p.gone() && !p.member.in_target);
           });
  }

  // Members that got Go while they were armed at different steps: a Cancel and
  // an Arm that came late can do that, and their states don't fit together.
  std::string TwoStops() const {
    const Participant* first = nullptr;
    for (const Participant& p : participants_) {
      if (!p.member.in_source || p.phase < Phase::kTransferring ||
          p.phase > Phase::kVerified) {
        continue;
      }
      if (first == nullptr) first = &p;
      if (p.report.armed_step != first->report.armed_step) {
        return absl::StrCat("serial ", first->member.serial, " stops at step ",
                            first->report.armed_step, ", serial ",
                            p.member.serial, " at step ", p.report.armed_step);
      }
    }
    return "";
  }

  // Why the transition can't succeed any more; empty if it still can.
  std::string Failure() const {
    for (const Participant& p : participants_) {
      const uint32_t serial = p.member.serial;
      if (p.gone()) return absl::StrCat("serial ", serial, " is gone");
      if (!p.answering()) continue;
      if (p.report.generation > view_.generation) {
        return absl::StrCat("serial ", serial, " is already at generation ",
                            p.report.generation);
      }
      if (p.phase == Phase::kFailed || p.phase == Phase::kAborted) {
        return absl::StrCat(
            "serial ", serial, ": ",
            p.report.failure.empty() ? PhaseName(p.phase) : p.report.failure);
      }
      if (view_.record == RecordPhase::kDraining &&
          p.phase < Phase::kPrepared) {
        return absl::StrCat("serial ", serial, " has lost its preparation");
      }
    }
    return "";
  }

  Decision Prepare() const {
    auto untold = Which([](const Participant& p) {
      return p.answering() && p.phase == Phase::kNone;
    });
    if (!untold.empty()) {
      return {.action = Action::kPrepare, .serials = std::move(untold)};
    }
    // Ranks whose plans differ may wait for each other's links for ever.
    if (std::string reason = OtherPlans(); !reason.empty()) {
      return Abandon(std::move(reason));
    }
    auto unready =
        Which([](const Participant& p) { return p.phase < Phase::kPrepared; });
    if (!unready.empty()) return Wait("preparation", std::move(unready));
    if (std::string reason = OtherRoutes(); !reason.empty()) {
      return Abandon(std::move(reason));
    }
    return Command(Action::kWriteDraining, {});
  }

  static bool HasPlan(const Participant& p) {
    return p.phase != Phase::kNone && !p.report.plan_digest.empty();
  }

  // The plan that most of those that have one agree on; null if nobody has.
  const Participant* Majority() const {
    std::map<absl::string_view, int> votes;
    const Participant* majority = nullptr;
    for (const Participant& p : participants_) {
      if (HasPlan(p)) ++votes[p.report.plan_digest];
    }
    for (const Participant& p : participants_) {
      if (!HasPlan(p)) continue;
      if (majority == nullptr ||
          votes[p.report.plan_digest] > votes[majority->report.plan_digest]) {
        majority = &p;
      }
    }
    return majority;
  }

  // Who has made another plan than the rest, and what differs; empty if nobody
  // has.
  std::string OtherPlans() const {
    const Participant* majority = Majority();
    std::vector<const Participant*> others;
    for (const Participant& p : participants_) {
      if (HasPlan(p) && p.report.plan_digest != majority->report.plan_digest) {
        others.push_back(&p);
      }
    }
    if (others.empty()) return "";
    return absl::StrCat(
        absl::StrJoin(others, ", ",
                      [](std::string* out, const Participant* p) {
                        absl::StrAppend(out, "serial ", p->member.serial);
                      }),
        others.size() == 1 ? " has" : " have", " another plan than serial ",
        majority->member.serial, "; they differ in: ",
        AgreementDifference(others[0]->report.plan_digest,
                            majority->report.plan_digest));
  }

  // Why the prepared plans, of equal inputs, don't fit together; empty if they
  // do.
  std::string OtherRoutes() const {
    uint64_t sent = 0;
    uint64_t received = 0;
    for (const Participant& p : participants_) {
      sent += p.report.sent_hash;
      received += p.report.received_hash;
    }
    if (sent == received) return "";
    return absl::StrCat("what is sent (hash ", sent,
                        ") is not what is received (hash ", received, ")");
  }

  Decision Drain() const {
    if (Any([](const Participant& p) {
          return p.phase >= Phase::kTransferring;
        })) {
      return FinishGo();
    }
    if (auto silent =
            Which([](const Participant& p) { return !p.answering(); });
        !silent.empty()) {
      return Wait("an answer", std::move(silent));
    }
    if (Ready()) {
      return Command(Action::kGo,
                     Which([](const Participant&) { return true; }));
    }
    return Arm();
  }

  // All that train are armed at one step.
  bool Ready() const {
    const uint64_t step = ArmedStep();
    return All([&](const Participant& p) {
      return !p.member.in_source ||
             (p.phase == Phase::kArmed && p.report.armed_step == step);
    });
  }

  // The highest step at which a member is to stop or has stopped; 0 if none.
  uint64_t ArmedStep() const {
    uint64_t step = 0;
    for (const Participant& p : participants_) {
      if (p.member.in_source && p.phase >= Phase::kArmed) {
        step = std::max(step, p.report.armed_step);
      }
    }
    return step;
  }

  static bool Unarmed(const Participant& p) {
    return p.member.in_source && p.phase == Phase::kPrepared;
  }

  Decision Arm() const {
    uint64_t step = ArmedStep();
    const bool one_step = All([&](const Participant& p) {
      return p.phase != Phase::kArmed || p.report.armed_step == step;
    });
    const bool reachable = All([&](const Participant& p) {
      return !Unarmed(p) || p.report.seen_step < step;
    });
    if (step != 0 && !(one_step && reachable)) {
      return Command(Action::kCancel, Which([](const Participant& p) {
                       return p.phase == Phase::kArmed;
                     }));
    }
    if (step == 0) step = NextStep();
    Decision arm = Command(Action::kArm, Which(Unarmed));
    arm.step = step;
    return arm;
  }

  // Two past the highest seen: one step is running, and the message needs time.
  uint64_t NextStep() const {
    uint64_t seen = 0;
    for (const Participant& p : participants_) {
      if (p.member.in_source) seen = std::max(seen, p.report.seen_step);
    }
    return seen + 2;
  }

  // Somebody has got Go, so all were armed: tell those it hasn't reached.
  Decision FinishGo() const {
    const uint64_t step = ArmedStep();
    for (const Participant& p : participants_) {
      if (Unarmed(p) && p.report.seen_step >= step) {
        return Abandon(absl::StrCat("serial ", p.member.serial,
                                    " went on past step ", step,
                                    " at which the others stopped"));
      }
    }
    if (auto unarmed = Which(Unarmed); !unarmed.empty()) {
      Decision arm = Command(Action::kArm, std::move(unarmed));
      arm.step = step;
      return arm;
    }
    auto untold = Which([](const Participant& p) {
      return p.phase == Phase::kArmed || p.phase == Phase::kPrepared;
    });
    if (!untold.empty()) return Command(Action::kGo, std::move(untold));
    return Wait("transfer and verification", Which([](const Participant& p) {
                  return p.phase != Phase::kVerified;
                }));
  }

  Decision RollForward() const {
    auto untold =
        Which([](const Participant& p) { return p.phase == Phase::kVerified; });
    if (!untold.empty()) return Command(Action::kCommit, std::move(untold));
    auto waiting = Which([&](const Participant& p) {
      const bool beyond =
          p.answering() && p.report.generation > view_.generation;
      return !p.gone() && !beyond && p.phase != Phase::kReleased;
    });
    if (!waiting.empty()) return Wait("resumption", std::move(waiting));
    return {.action = Action::kWriteReleased};
  }

  // Those that never heard of the attempt are told too: a late Prepare must not
  // start it again.
  Decision RollBack() const {
    const auto beyond = [&](const Participant& p) {
      return p.report.generation > view_.generation;
    };
    auto untold = Which([&](const Participant& p) {
      return p.answering() && p.phase != Phase::kAborted && !beyond(p);
    });
    if (!untold.empty()) {
      return {.action = Action::kAbort,
              .serials = std::move(untold),
              .reason = view_.give_up};
    }
    auto silent =
        Which([](const Participant& p) { return !p.answering() && !p.gone(); });
    if (!silent.empty()) return Wait("an answer", std::move(silent));
    return {.action = Action::kDone};
  }

  const TransitionView& view_;
  std::vector<Participant> participants_;
};

}  // namespace

absl::string_view ActionName(Action action) {
  switch (action) {
    case Action::kDone:
      return "Done";
    case Action::kWait:
      return "Wait";
    case Action::kStandDown:
      return "StandDown";
    case Action::kGreet:
      return "Greet";
    case Action::kPrepare:
      return "Prepare";
    case Action::kArm:
      return "Arm";
    case Action::kGo:
      return "Go";
    case Action::kCancel:
      return "Cancel";
    case Action::kCommit:
      return "Commit";
    case Action::kAbort:
      return "Abort";
    case Action::kWriteDraining:
      return "WriteDraining";
    case Action::kWriteCommitted:
      return "WriteCommitted";
    case Action::kWriteReleased:
      return "WriteReleased";
    case Action::kWriteAborted:
      return "WriteAborted";
    case Action::kWriteSuperseded:
      return "WriteSuperseded";
  }
  return "Unknown";
}

std::string Decision::DebugString() const {
  std::string text(ActionName(action));
  if (step != 0) absl::StrAppend(&text, "(", step, ")");
  if (!serials.empty()) {
    absl::StrAppend(&text, " to ", absl::StrJoin(serials, ","));
  }
  if (!reason.empty()) absl::StrAppend(&text, ": ", reason);
  return text;
}

Decision Decide(const TransitionView& view) { return Round(view).Decide(); }

}  // namespace dynatrain::transition
