// An operator without a cluster: the record is a variable, the decisions are
// those of transition/commit.
#ifndef TESTS_AGENT_TEST_OPERATOR_H_
#define TESTS_AGENT_TEST_OPERATOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/client/messages.h"
#include "tests/agent/agent_process.h"
#include "transition/commit/coordinator.h"

namespace dynatrain::agent {

// What a real job keeps in its status.
struct Record {
  transition::RecordPhase phase = transition::RecordPhase::kNone;
  Transition transition;
  std::string reason;
};

class TestOperator {
 public:
  // `agents` and `record` outlive it.
  TestOperator(uint64_t term, std::vector<AgentProcess*> agents, Record* record)
      : term_(term), agents_(std::move(agents)), record_(record) {}

  // Records a transition to generation `generation` between these agents.
  void Plan(uint64_t generation, const std::vector<AgentProcess*>& source,
            const std::vector<AgentProcess*>& target);

  // Decides and acts once; returns the decision.
  transition::Decision Turn();
  // Turns until `stop` says so, waiting by long poll between turns. Dies after
  // kPatience. Without `stop`: until the transition is over.
  transition::Decision Drive(
      const std::function<bool(const transition::Decision&)>& stop = {});

  transition::Fence Fence(const std::string& plan_digest = "") const {
    return {term_, record_->transition.generation, plan_digest};
  }
  std::string give_up;  // as in TransitionView

  // The last time that a command was refused; OK if none was.
  const absl::Status& refusal() const { return refusal_; }

 private:
  transition::TransitionView View();
  void Act(const transition::Decision& decision);
  absl::Status Command(const transition::Decision& decision, size_t index);
  void AwaitChange(const std::vector<uint32_t>& serials);

  const uint64_t term_;
  const std::vector<AgentProcess*> agents_;
  Record* const record_;
  std::vector<Observation> seen_;  // by agent; version 0 if gone
  absl::Status refusal_;
};

}  // namespace dynatrain::agent

#endif  // TESTS_AGENT_TEST_OPERATOR_H_
