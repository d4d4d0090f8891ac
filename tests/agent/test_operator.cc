#include "tests/agent/test_operator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/client/member_report.h"

namespace dynatrain::agent {

using std::chrono::milliseconds;
using transition::Action;
using transition::Decision;
using transition::RecordPhase;

namespace {

World WorldOf(uint64_t generation, const std::vector<AgentProcess*>& agents) {
  World world{.generation = generation};
  for (AgentProcess* agent : agents) world.members.push_back(agent->AsMember());
  if (!agents.empty()) {
    world.layout = absl::StrCat("dp", agents.size(), ",tp1,pp1");
  }
  return world;
}

bool Has(const World& world, uint32_t serial) {
  return std::any_of(
      world.members.begin(), world.members.end(),
      [&](const Member& member) { return member.serial == serial; });
}

Deadline Soon() { return Deadline::After(kPatience); }

}  // namespace

void TestOperator::Plan(uint64_t generation,
                        const std::vector<AgentProcess*>& source,
                        const std::vector<AgentProcess*>& target) {
  const uint64_t before =
      source.empty() ? 0 : source[0]->Look().committed_generation;
  record_->transition = {.id = absl::StrCat("t", generation),
                         .generation = generation,
                         .source = WorldOf(before, source),
                         .target = WorldOf(generation, target),
                         .manifest = source.empty() ? "" : "{}",
                         .seed = 1,
                         .transfer_deadline = kPatience,
                         .prepare_deadline = kPatience};
  record_->phase = RecordPhase::kPlanned;
}

transition::TransitionView TestOperator::View() {
  transition::TransitionView view{.term = term_,
                                  .record = record_->phase,
                                  .generation = record_->transition.generation,
                                  .give_up = give_up};
  seen_.assign(agents_.size(), Observation());
  for (size_t i = 0; i < agents_.size(); ++i) {
    const uint32_t serial = agents_[i]->serial();
    const bool in_source = Has(record_->transition.source, serial);
    const bool in_target = Has(record_->transition.target, serial);
    if (!in_source && !in_target) continue;
    view.members.push_back({serial, in_source, in_target});
    auto seen = agents_[i]->api().Observe(0, milliseconds(0), Soon());
    if (seen.ok()) {
      view.reports.push_back(ReportOf(*seen));
      seen_[i] = *std::move(seen);
    } else {
      view.reports.push_back(
          {.serial = serial, .reach = transition::MemberReport::Reach::kGone});
    }
  }
  return view;
}

Decision TestOperator::Turn() {
  const Decision decision = transition::Decide(View());
  Act(decision);
  return decision;
}

void TestOperator::Act(const Decision& decision) {
  switch (decision.action) {
    case Action::kWriteDraining:
      record_->phase = RecordPhase::kDraining;
      return;
    case Action::kWriteCommitted:
      record_->phase = RecordPhase::kCommitted;
      return;
    case Action::kWriteReleased:
      record_->phase = RecordPhase::kReleased;
      return;
    case Action::kWriteAborted:
    case Action::kWriteSuperseded:
      record_->phase = RecordPhase::kAborted;
      record_->reason = decision.reason;
      return;
    default:
      for (size_t i = 0; i < agents_.size(); ++i) {
        if (std::count(decision.serials.begin(), decision.serials.end(),
                       agents_[i]->serial()) == 0) {
          continue;
        }
        absl::Status status = Command(decision, i);
        if (!status.ok()) refusal_ = std::move(status);
      }
  }
}

absl::Status TestOperator::Command(const Decision& decision, size_t index) {
  AgentApi& api = agents_[index]->api();
  const transition::Fence fence = Fence(decision.plan_digest);
  switch (decision.action) {
    case Action::kGreet:
      return api.Greet(fence, Soon());
    case Action::kPrepare:
      return api.Prepare(fence, record_->transition, Soon());
    case Action::kArm:
      return api.Arm(fence, decision.step, Soon()).status();
    case Action::kGo:
      return api.Go(fence, Soon());
    case Action::kCancel:
      return api.Cancel(fence, Soon());
    case Action::kCommit:
      return api.Commit(fence, Soon());
    case Action::kAbort:
      return api.Abort(fence, decision.reason, Soon());
    default:
      return absl::OkStatus();
  }
}

Decision TestOperator::Drive(const std::function<bool(const Decision&)>& stop) {
  const Deadline deadline = Soon();
  std::string last;
  while (!deadline.Passed()) {
    const Decision decision = Turn();
    if (stop ? stop(decision) : decision.action == Action::kDone) {
      return decision;
    }
    if (decision.action == Action::kWait) AwaitChange(decision.serials);
    last = decision.DebugString();
  }
  std::fprintf(stderr, "TestOperator: stuck at %s\n", last.c_str());
  for (AgentProcess* agent : agents_) {
    std::fprintf(stderr, "serial %u:\n%s\n", agent->serial(),
                 agent->Output().c_str());
  }
  std::abort();
}

void TestOperator::AwaitChange(const std::vector<uint32_t>& serials) {
  for (size_t i = 0; i < agents_.size(); ++i) {
    if (seen_[i].version == 0 ||
        std::count(serials.begin(), serials.end(), agents_[i]->serial()) == 0) {
      continue;
    }
    // The first of them is as good as any: the next turn looks at all.
    (void)agents_[i]->api().Observe(seen_[i].version, milliseconds(200),
                                    Soon());
    return;
  }
}

}  // namespace dynatrain::agent
