// Explores the whole state space of one transition within bounds: no state
// breaks a law, and from each there is a way to the end.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transition/commit/commit_model.h"

namespace dynatrain::transition {
namespace {

struct Explored {
  uint32_t parent = 0;
  std::string event;           // that led here
  std::vector<uint32_t> from;  // all states that lead here
  bool final = false;
};

class Exploration {
 public:
  explicit Exploration(const ModelLimits& limits) : limits_(limits) {}

  // Breadth first, so that a counterexample is a shortest one.
  void Run() {
    const CommitModel start = CommitModel::Start(limits_);
    Reach(start, 0, "start");
    while (!frontier_.empty()) {
      const auto [id, model] = std::move(frontier_.front());
      frontier_.pop_front();
      for (auto& [event, next] : model.Next(limits_)) {
        const uint32_t to = Reach(next, id, event);
        if (to != id) states_[to].from.push_back(id);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
    CheckAllCanEnd();
    std::printf("%zu states\n", states_.size());
  }

 private:
  uint32_t Reach(const CommitModel& model, uint32_t parent,
                 const std::string& event) {
    const auto [it, fresh] =
        ids_.emplace(model.Key(), static_cast<uint32_t>(states_.size()));
    if (!fresh) return it->second;
    const uint32_t id = it->second;
    const bool beyond = model.Beyond(limits_);
    states_.push_back({parent, event, {}, beyond || model.Final()});
    const std::string violation = model.Violation(limits_);
    if (!violation.empty()) {
      Fail(violation, id, model.DebugString());
    } else if (!beyond) {
      frontier_.emplace_back(id, model);
    }
    return id;
  }

  void Fail(const std::string& what, uint32_t id, const std::string& state) {
    std::string path;
    for (uint32_t at = id; at != 0; at = states_[at].parent) {
      path = states_[at].event + "\n" + path;
    }
    FAIL() << what << " after\n" << path << state;
  }

  // Backwards from the ends: who isn't met is stuck for ever.
  void CheckAllCanEnd() {
    std::vector<bool> ends(states_.size(), false);
    std::deque<uint32_t> todo;
    for (uint32_t id = 0; id < states_.size(); ++id) {
      if (!states_[id].final) continue;
      ends[id] = true;
      todo.push_back(id);
    }
    EXPECT_FALSE(todo.empty());
    while (!todo.empty()) {
      const uint32_t id = todo.front();
      todo.pop_front();
      for (uint32_t from : states_[id].from) {
        if (ends[from]) continue;
        ends[from] = true;
        todo.push_back(from);
      }
    }
    for (uint32_t id = 0; id < states_.size(); ++id) {
      if (!ends[id]) return Fail("stuck for ever", id, "");
    }
  }

  const ModelLimits limits_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Explored> states_;
  std::deque<std::pair<uint32_t, CommitModel>> frontier_;
};

constexpr CommitMember kSurvivor0{0, true, true};
constexpr CommitMember kJoiner1{1, false, true};
constexpr CommitMember kLeaver1{1, true, false};
constexpr CommitMember kSurvivor1{1, true, true};

TEST(CommitModelTest, ASurvivorAndAJoinerUnderTwoOperators) {
  Exploration({.members = {kSurvivor0, kJoiner1}}).Run();
}

TEST(CommitModelTest, TwoSurvivorsThatMustStopTogether) {
  Exploration({.members = {kSurvivor0, kSurvivor1},
               .operators = 1,
               .rank_failures = 0,
               .give_ups = 0,
               .repeats = false,
               .max_step = 3,
               .sleeping = false})
      .Run();
}

TEST(CommitModelTest, TwoSurvivorsUnderTwoOperators) {
  Exploration({.members = {kSurvivor0, kSurvivor1},
               .rank_failures = 0,
               .give_ups = 0,
               .free_steps = 0,
               .repeats = false,
               .max_step = 2,
               .sleeping = false})
      .Run();
}

TEST(CommitModelTest, ALeaverThatVanishesAnywhere) {
  Exploration({.members = {kSurvivor0, kLeaver1},
               .operators = 1,
               .rank_failures = 0,
               .lost_pods = 1,
               .free_steps = 0,
               .max_step = 2,
               .sleeping = false})
      .Run();
}

TEST(CommitModelTest, ASurvivorALeaverAndAJoiner) {
  Exploration({.members = {kSurvivor0, kLeaver1, {2, false, true}},
               .lost_pods = 1,
               .free_steps = 0,
               .repeats = false,
               .max_step = 2,
               .sleeping = false})
      .Run();
}

TEST(CommitModelTest, PicturesThatMixTimes) {
  Exploration({.members = {kSurvivor0, kJoiner1},
               .operators = 1,
               .lost_pods = 1,
               .free_steps = 0,
               .mixed_pictures = true})
      .Run();
}

TEST(CommitModelTest, TheFirstStart) {
  Exploration({.members = {{0, false, true}, {1, false, true}}, .lost_pods = 1})
      .Run();
}

}  // namespace
}  // namespace dynatrain::transition
