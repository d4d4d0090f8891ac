#include "transition/commit/commit_model.h"

#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

using Reach = MemberReport::Reach;
using Kind = RankOrder::Kind;
using Message = CommitModel::Message;
using Rank = CommitModel::Rank;
using Operator = CommitModel::Operator;
using Successors = std::vector<std::pair<std::string, CommitModel>>;

constexpr uint64_t kSource = 3;
constexpr Participant::Time kNow{};

TransitionTerms Terms(const CommitMember& member) {
  return {.id = "t",
          .generation = CommitModel::kGeneration,
          .source_generation = kSource,
          .in_source = member.in_source,
          .in_target = member.in_target};
}

// A participant that trains in the source world, or is new.
Participant Fresh(const CommitMember& member) {
  Participant participant(1);
  if (!member.in_source) return participant;
  const Fence fence{0, kSource, "old"};
  const bool ok =
      participant
          .Prepare({0, kSource, ""},
                   {.id = "s", .generation = kSource, .in_target = true}, kNow)
          .ok() &&
      participant.RankPrepared(0, kSource, "old").ok() &&
      participant.Go(fence, kNow).ok() &&
      participant.RankVerified(0, kSource).ok() &&
      participant.Commit(fence).ok() &&
      participant.RankReleased(0, kSource).ok();
  participant.TakeOrders();
  return ok ? participant : Participant(1);
}

// The rank hears the agent's orders at once; its answers take their time.
void TellRank(Participant& agent, Rank& rank) {
  for (const RankOrder& order : agent.TakeOrders()) {
    switch (order.kind) {
      case Kind::kPrepare:
        rank.prepare = true;
        break;
      case Kind::kArm: {
        const bool ok = rank.step < order.step;
        if (ok) rank.armed = order.step;
        rank.arm_answers.push_back({order.step, ok});
        break;
      }
      case Kind::kGo:
        rank.go = true;
        break;
      case Kind::kCancel:
        rank.armed.reset();
        rank.cancelled = rank.stopping || rank.stopped_said;
        break;
      case Kind::kAbort:
        rank.prepare = rank.go = rank.stopped_said = rank.cancelled = false;
        rank.armed.reset();
        break;
      case Kind::kCommit:
        rank.commit = true;
        break;
    }
  }
}

void Deliver(CommitModel& model, const Message& message,
             const CommitMember& member) {
  Participant& agent = model.agents[message.agent];
  const Fence fence{message.term, CommitModel::kGeneration, message.digest};
  switch (message.action) {
    case Action::kGreet:
      (void)agent.Greet(fence);
      break;
    case Action::kPrepare:
      (void)agent.Prepare(fence, Terms(member), kNow);
      break;
    case Action::kArm:
      (void)agent.Arm(fence, message.step);
      break;
    case Action::kGo:
      (void)agent.Go(fence, kNow);
      break;
    case Action::kCancel:
      (void)agent.Cancel(fence);
      break;
    case Action::kCommit:
      (void)agent.Commit(fence);
      break;
    default:
      (void)agent.Abort(fence, "");
      break;
  }
  TellRank(agent, model.ranks[message.agent]);
}

// True if the message can't have an effect any more: the agent's term never
// falls, and these phases never come back. Dropping it loses no behaviour.
bool Inert(const CommitModel& model, const Message& message) {
  const Participant& agent = model.agents[message.agent];
  const Phase phase = agent.phase();
  if (model.gone[message.agent] || message.term < agent.term()) return true;
  const bool here = agent.generation() == CommitModel::kGeneration;
  switch (message.action) {
    case Action::kGreet:
      return message.term == agent.term();
    case Action::kPrepare:
      return here && message.term == agent.term();
    case Action::kAbort:
      return here && phase == Phase::kAborted && message.term == agent.term();
    case Action::kCommit:
      return here && phase > Phase::kVerified && message.term == agent.term();
    default:  // Arm, Go, Cancel
      return here && phase > Phase::kArmed && message.term == agent.term();
  }
}

void DropInert(CommitModel& model) {
  for (auto it = model.messages.begin(); it != model.messages.end();) {
    it = Inert(model, *it) ? model.messages.erase(it) : std::next(it);
  }
}

MemberReport ReportOf(const CommitModel& model, size_t i) {
  const Participant& agent = model.agents[i];
  if (model.gone[i]) {
    return {.serial = static_cast<uint32_t>(i), .reach = Reach::kGone};
  }
  return {.serial = static_cast<uint32_t>(i),
          .reach = Reach::kAnswering,
          .term = agent.term(),
          .generation = agent.generation(),
          .phase = agent.phase(),
          .armed_step = agent.armed_step(),
          .seen_step = model.ranks[i].step,
          .plan_digest = agent.phase() >= Phase::kPrepared &&
                                 agent.phase() <= Phase::kReleased
                             ? "d"
                             : ""};
}

// ---- what a rank may do next

void StepRank(CommitModel& model, size_t i) {
  Rank& rank = model.ranks[i];
  ++rank.step;
  if (rank.armed == rank.step) rank.stopping = rank.step;
}

void AddRankEvents(const CommitModel& model, const CommitMember& member,
                   size_t i, Successors& next) {
  const Rank& rank = model.ranks[i];
  const auto add = [&](const char* what, auto change) {
    CommitModel after = model;
    change(after, after.agents[i], after.ranks[i]);
    TellRank(after.agents[i], after.ranks[i]);
    next.emplace_back(absl::StrCat("rank ", i, " ", what), std::move(after));
  };
  const auto say = [](absl::Status status, const char* what) {
    if (!status.ok()) std::abort();  // the model's rank follows the protocol
    (void)what;
  };
  const uint64_t g = CommitModel::kGeneration;
  const bool stopped = rank.stopping || rank.stopped_said;
  // What it says arrives in order, so its steps after an answer don't count
  // before the answer does.
  const bool trains =
      member.in_source && !stopped && !rank.commit && rank.arm_answers.empty();
  if (trains && (rank.armed || rank.free_steps > 0)) {
    add("steps", [](CommitModel& m, Participant&, Rank& r) {
      if (!r.armed) --r.free_steps;
      StepRank(m, &r - m.ranks.data());
    });
  }
  if (rank.prepare) {
    add("prepared", [&](CommitModel&, Participant& a, Rank& r) {
      r.prepare = false;
      say(a.RankPrepared(0, g, "d"), "prepared");
    });
  }
  if (!rank.arm_answers.empty()) {
    add("answers arm", [&](CommitModel&, Participant& a, Rank& r) {
      const auto [step, ok] = r.arm_answers.front();
      r.arm_answers.pop_front();
      say(a.RankArmed(0, g, step, ok, r.step), "armed");
    });
  }
  // Not before the answer to Arm, but a cancel needs none.
  if (rank.stopping && (rank.arm_answers.empty() || rank.cancelled)) {
    add("says stopped", [&](CommitModel&, Participant& a, Rank& r) {
      say(a.RankStopped(0, g, *r.stopping, kNow), "stopped");
      r.stopping.reset();
      r.stopped_said = true;
    });
  }
  if (rank.stopped_said && rank.cancelled) {
    add("hears the cancel", [](CommitModel&, Participant&, Rank& r) {
      r.stopped_said = r.cancelled = false;
    });
  }
  const bool at_transfer = rank.go && !rank.verified_said && !rank.cancelled &&
                           (!member.in_source || rank.stopped_said);
  if (at_transfer) {
    add("verified", [&](CommitModel&, Participant& a, Rank& r) {
      r.verified_said = true;
      say(a.RankVerified(0, g), "verified");
    });
  }
  if ((rank.prepare || at_transfer) && model.rank_failures > 0) {
    add("failed", [&](CommitModel& m, Participant& a, Rank& r) {
      --m.rank_failures;
      r.prepare = false;
      say(a.RankFailed(0, g, "x"), "failed");
    });
  }
  if (rank.commit && !rank.released_said) {
    add("released", [&](CommitModel&, Participant& a, Rank& r) {
      r.released_said = true;
      say(a.RankReleased(0, g), "released");
    });
  }
}

// ---- what an operator may do next

// A write counts only if nobody wrote since it read, as the API server has it.
void Write(CommitModel& model, const Operator& op, RecordPhase phase) {
  if (op.version != model.record_version) return;
  model.record = phase;
  ++model.record_version;
}

void Act(CommitModel& model, Operator& op, const Decision& decision) {
  switch (decision.action) {
    case Action::kDone:
    case Action::kWait:
      return;
    case Action::kStandDown:
      op.active = false;
      return;
    case Action::kWriteDraining:
      return Write(model, op, RecordPhase::kDraining);
    case Action::kWriteCommitted:
      return Write(model, op, RecordPhase::kCommitted);
    case Action::kWriteReleased:
      return Write(model, op, RecordPhase::kReleased);
    case Action::kWriteAborted:
    case Action::kWriteSuperseded:
      return Write(model, op, RecordPhase::kAborted);
    default:
      for (uint32_t serial : decision.serials) {
        model.messages.insert({decision.action, serial, op.term, decision.step,
                               decision.plan_digest});
      }
  }
}

void ReadRecord(const CommitModel& model, Operator& op) {
  op.version = model.record_version;
  op.record = model.record;
  op.active = model.record_term == op.term;  // else it sees it is deposed
}

void Forget(Operator& op) {
  op.version = -1;
  op.record = RecordPhase::kNone;
  for (MemberReport& report : op.reports) report = {.serial = report.serial};
}

void AddDecisions(const CommitModel& model, const ModelLimits& limits, size_t o,
                  Successors& next) {
  const Operator& op = model.operators[o];
  if (!op.active || op.version < 0) return;
  for (bool give_up : {false, true}) {
    if (give_up && model.give_ups == 0) continue;
    CommitModel after = model;
    const Decision decision = Decide({.term = op.term,
                                      .record = op.record,
                                      .generation = CommitModel::kGeneration,
                                      .members = limits.members,
                                      .reports = op.reports,
                                      .give_up = give_up ? "enough" : ""});
    if (give_up) {
      if (decision.action != Action::kWriteAborted) continue;
      --after.give_ups;
    }
    Act(after, after.operators[o], decision);
    Forget(after.operators[o]);
    next.emplace_back(
        absl::StrCat("operator ", op.term, " ", decision.DebugString()),
        std::move(after));
  }
}

void AddOperatorEvents(const CommitModel& model, const ModelLimits& limits,
                       size_t o, Successors& next) {
  const Operator& op = model.operators[o];
  const auto add = [&](absl::string_view what, CommitModel after) {
    next.emplace_back(absl::StrCat("operator ", op.term, " ", what),
                      std::move(after));
  };
  if (!op.active) {
    // The next one takes over: it raises the record's term.
    if (op.term != model.record_term + 1) return;
    CommitModel after = model;
    after.operators[o].active = true;
    after.record_term = op.term;
    ++after.record_version;
    return add("takes over", std::move(after));
  }
  CommitModel look = model;
  ReadRecord(model, look.operators[o]);
  if (limits.mixed_pictures) {
    if (op.version < 0) return add("reads the record", std::move(look));
    for (size_t i = 0; i < model.agents.size(); ++i) {
      CommitModel after = model;
      after.operators[o].reports[i] = ReportOf(model, i);
      add(absl::StrCat("looks at ", i), std::move(after));
    }
    return AddDecisions(model, limits, o, next);
  }
  for (size_t i = 0; i < model.agents.size(); ++i) {
    look.operators[o].reports[i] = ReportOf(model, i);
  }
  const bool sleeps = limits.sleeping && o == 0;
  if (!sleeps) {
    AddDecisions(look, limits, o, next);
  } else if (op.version < 0) {
    add("looks", std::move(look));
  } else {
    AddDecisions(model, limits, o, next);
  }
}

}  // namespace

CommitModel CommitModel::Start(const ModelLimits& limits) {
  CommitModel model;
  for (const CommitMember& member : limits.members) {
    model.agents.push_back(Fresh(member));
    model.ranks.push_back(
        {.free_steps = member.in_source ? limits.free_steps : 0});
    model.gone.push_back(false);
  }
  for (int o = 0; o < limits.operators; ++o) {
    Operator op{.active = o == 0, .term = static_cast<uint64_t>(o) + 1};
    for (const CommitMember& member : limits.members) {
      op.reports.push_back({.serial = member.serial});
    }
    model.operators.push_back(std::move(op));
  }
  model.rank_failures = limits.rank_failures;
  model.lost_pods = limits.lost_pods;
  model.give_ups = limits.give_ups;
  return model;
}

Successors CommitModel::Next(const ModelLimits& limits) const {
  Successors next;
  for (const Message& message : messages) {
    if (gone[message.agent]) continue;
    CommitModel after = *this;
    Deliver(after, message, limits.members[message.agent]);
    if (!limits.repeats) after.messages.erase(message);
    next.emplace_back(
        absl::StrCat(message.agent, " gets ", ActionName(message.action),
                     " of ", message.term),
        std::move(after));
  }
  for (size_t i = 0; i < agents.size(); ++i) {
    if (gone[i]) continue;
    AddRankEvents(*this, limits.members[i], i, next);
    if (lost_pods == 0) continue;
    CommitModel after = *this;
    --after.lost_pods;
    after.gone[i] = true;
    next.emplace_back(absl::StrCat(i, " vanishes"), std::move(after));
  }
  for (size_t o = 0; o < operators.size(); ++o) {
    AddOperatorEvents(*this, limits, o, next);
  }
  for (auto& [event, after] : next) DropInert(after);
  return next;
}

bool CommitModel::Final() const {
  if (record == RecordPhase::kReleased) return true;
  if (record != RecordPhase::kAborted) return false;
  for (size_t i = 0; i < agents.size(); ++i) {
    if (!gone[i] && agents[i].phase() != Phase::kAborted) return false;
  }
  return true;
}

bool CommitModel::Beyond(const ModelLimits& limits) const {
  for (const Rank& rank : ranks) {
    if (rank.armed.value_or(0) > limits.max_step ||
        rank.arm_answers.size() > 2) {
      return true;
    }
  }
  return false;
}

std::string CommitModel::Violation(const ModelLimits& limits) const {
  const bool committed =
      record == RecordPhase::kCommitted || record == RecordPhase::kReleased;
  std::optional<uint64_t> stop;
  for (size_t i = 0; i < agents.size(); ++i) {
    const Phase phase = agents[i].phase();
    const bool switched = agents[i].committed_generation() == kGeneration;
    const bool aborted =
        agents[i].generation() == kGeneration && phase == Phase::kAborted;
    if (switched && !committed) return "switched without the write";
    if (aborted && record != RecordPhase::kAborted) {
      return "aborted without the write";
    }
    if (committed && !gone[i] && phase < Phase::kVerified) {
      return "committed without all verified";
    }
    if (committed && !gone[i] && phase == Phase::kFailed) {
      return "committed and failed";
    }
    if (record == RecordPhase::kAborted && switched) return "two outcomes";
    if (!switched && limits.members[i].in_source &&
        agents[i].committed_generation() != kSource) {
      return "an abort changed the generation";
    }
    if (committed && !gone[i] && limits.members[i].in_source &&
        phase >= Phase::kVerified && phase <= Phase::kReleased &&
        agents[i].generation() == kGeneration) {
      if (stop && *stop != agents[i].armed_step())
        return "committed what stopped at two steps";
      stop = agents[i].armed_step();
    }
  }
  return "";
}

std::string CommitModel::Key() const {
  std::string key =
      absl::StrCat(static_cast<int>(record), " ", record_term, " ",
                   record_version, " ", rank_failures, lost_pods, give_ups);
  for (size_t i = 0; i < agents.size(); ++i) {
    const Rank& r = ranks[i];
    absl::StrAppend(&key, "|", agents[i].DebugString(), gone[i], r.prepare,
                    r.armed.value_or(0), r.stopping.value_or(0), r.cancelled,
                    r.stopped_said, r.go, r.verified_said, r.commit,
                    r.released_said, ",", r.step, r.free_steps);
    for (const auto& [step, ok] : r.arm_answers) {
      absl::StrAppend(&key, "a", step, ok);
    }
  }
  for (const Operator& op : operators) {
    absl::StrAppend(&key, "|o", op.active, op.version == record_version, ",",
                    static_cast<int>(op.record));
    if (!op.active) continue;
    for (const MemberReport& r : op.reports) {
      absl::StrAppend(&key, ",", static_cast<int>(r.reach), r.term,
                      r.generation, static_cast<int>(r.phase), ".",
                      r.armed_step, ".", r.seen_step);
    }
  }
  for (const Message& m : messages) {
    absl::StrAppend(&key, "|m", static_cast<int>(m.action), m.agent, m.term,
                    ",", m.step, m.digest);
  }
  return key;
}

std::string CommitModel::DebugString() const {
  std::string text =
      absl::StrCat("record=", PhaseName(record), " term=", record_term,
                   " version=", record_version);
  for (size_t i = 0; i < agents.size(); ++i) {
    absl::StrAppend(&text, "\n  agent ", i, gone[i] ? " (gone) " : " ",
                    agents[i].DebugString(), " step=", ranks[i].step);
  }
  for (const Operator& op : operators) {
    absl::StrAppend(&text, "\n  operator ", op.term,
                    op.active ? " active" : " inactive", " read version ",
                    op.version);
  }
  return text;
}

}  // namespace dynatrain::transition
