// One transition as a state space: real Participants and the real Decide,
// between them a network that loses, repeats and reorders, operators that act
// on what they saw long ago, a second operator that takes over, ranks that
// fail and pods that vanish.
//
//   record (status) <-compare-and-swap- operators -messages-> agents <-> ranks
//
// A message stays deliverable for ever, any number of times (`repeats`) or
// until it was delivered; operators say things again, too. That is loss,
// repetition and reordering in one. An operator's crash is that it acts no
// more; the second one stands for its restart.
#ifndef TRANSITION_COMMIT_COMMIT_MODEL_H_
#define TRANSITION_COMMIT_COMMIT_MODEL_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "transition/commit/coordinator.h"
#include "transition/commit/participant.h"

namespace dynatrain::transition {

// Bounds: what may go wrong, how often.
struct ModelLimits {
  std::vector<CommitMember> members;  // serials 0, 1, ...
  int operators = 2;
  int rank_failures = 1;
  int lost_pods = 0;
  int give_ups = 1;
  int free_steps = 1;  // of each rank that trains, while it isn't armed
  bool repeats = true;
  // A Cancel that comes again and again makes every Arm a later one, without
  // end. Where a rank is armed beyond this step, or owes more than two answers,
  // the exploration stops.
  uint64_t max_step = 4;
  // An operator looks at each member on its own, so that its picture mixes
  // times; else at all together with the record.
  bool mixed_pictures = false;
  // The first operator may sleep between looking and acting. All others act at
  // once; their messages are late all the same.
  bool sleeping = true;
};

struct CommitModel {
  static constexpr uint64_t kGeneration = 4;

  struct Message {
    Action action;
    size_t agent;
    uint64_t term;
    uint64_t step;
    std::string digest;
    auto Key() const { return std::tie(action, agent, term, step, digest); }
    bool operator<(const Message& other) const { return Key() < other.Key(); }
  };

  // What a rank has been told and has yet to say.
  struct Rank {
    bool prepare = false;
    std::deque<std::pair<uint64_t, bool>> arm_answers;  // step, ok
    std::optional<uint64_t> armed;
    // The training thread is on its way from the boundary after this step to
    // the transfer, where it says so.
    std::optional<uint64_t> stopping;
    bool stopped_said = false;
    bool cancelled = false;  // the stop is taken back, and it hasn't heard
    bool go = false;
    bool verified_said = false;
    bool commit = false;
    bool released_said = false;
    uint64_t step = 0;
    int free_steps = 0;
  };

  struct Operator {
    bool active = false;
    uint64_t term = 0;
    // Its picture, from looking until acting.
    int version = -1;  // of the record it has read; -1 if none
    RecordPhase record = RecordPhase::kNone;
    std::vector<MemberReport> reports;
  };

  RecordPhase record = RecordPhase::kPlanned;
  uint64_t record_term = 1;
  int record_version = 0;
  std::vector<Participant> agents;
  std::vector<Rank> ranks;
  std::vector<bool> gone;
  std::vector<Operator> operators;
  std::set<Message> messages;
  int rank_failures = 0, lost_pods = 0, give_ups = 0;  // left

  static CommitModel Start(const ModelLimits& limits);
  // All states that one event leads to, each with the event's name.
  std::vector<std::pair<std::string, CommitModel>> Next(
      const ModelLimits& limits) const;
  // Over, and all who can be told have been.
  bool Final() const;
  // Beyond the bounds: neither explored nor held to be stuck.
  bool Beyond(const ModelLimits& limits) const;
  // What is wrong with this state; empty if nothing.
  std::string Violation(const ModelLimits& limits) const;
  std::string Key() const;
  std::string DebugString() const;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_COMMIT_COMMIT_MODEL_H_
