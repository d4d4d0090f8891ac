// Plans that are right pass; each kind of damage is named.
#include "transition/plan/cover.h"

#include <functional>
#include <string>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/random_case.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

PlanInput Input() {
  const vps::Manifest model = *vps::Manifest::Create(
      {TensorForTest("a", {8, 4}, {{"tp", 0}}), TensorForTest("b", {6}, {})});
  return *PlanInput::Create(WorldForTest("tp4", model, {10, 20, 30, 40}),
                            WorldForTest("tp2", model, {10, 50}));
}

std::vector<Route> RoutesTo50(const PlanInput& input) {
  std::vector<Route> routes;
  const ProcessPlan plan = *PlanForProcess(input, 50);
  for (const PeerExchange& peer : plan.peers) {
    routes.insert(routes.end(), peer.receive.begin(), peer.receive.end());
  }
  return routes;
}

TEST(CheckCover, AcceptsThePlanInAnyOrder) {
  std::vector<Route> routes = RoutesTo50(Input());
  ASSERT_EQ(routes.size(), 3);  // two of a's quarters and b
  EXPECT_TRUE(CheckCover(Input(), 1, routes).ok());
  std::swap(routes.front(), routes.back());
  EXPECT_TRUE(CheckCover(Input(), 1, routes).ok());
}

TEST(CheckCover, NamesEachKindOfDamage) {
  using Damage = std::function<void(std::vector<Route>&)>;
  const auto of_a = [](std::vector<Route>& routes) -> Route& {
    for (Route& route : routes) {
      if (route.tensor == 0) return route;
    }
    return routes.front();
  };
  const std::pair<const char*, Damage> table[] = {
      {"8 of 16 elements of [4:8, 0:4] are in no box",
       [&](auto& r) { std::erase(r, of_a(r)); }},
      {"overlap", [&](auto& r) { r.push_back(of_a(r)); }},
      {"lies outside of",
       [&](auto& r) {
         of_a(r).region = *vps::Box::Create({0, 0}, {2, 4});
         of_a(r).source_rank = 0;
       }},
      {"the source holds [2:4, 0:4]",
       [&](auto& r) { of_a(r).source_rank = 1; }},
      {"is not for rank 1", [&](auto& r) { of_a(r).target_rank = 0; }},
      {"no such source rank", [&](auto& r) { of_a(r).source_rank = 4; }},
      {"there is no tensor 2", [&](auto& r) { of_a(r).tensor = 2; }},
      {"the source holds",
       [&](auto& r) {
         of_a(r).region = of_a(r).region.With(0, {6, 6});
       }},
  };
  for (const auto& [why, damage] : table) {
    std::vector<Route> routes = RoutesTo50(Input());
    damage(routes);
    EXPECT_THAT(std::string(CheckCover(Input(), 1, routes).message()),
                HasSubstr(why));
  }
}

TEST(CheckCover, PassesAllPlansOfRandomWorlds) {
  std::mt19937_64 random = TestRandom(41);
  for (int i = 0; i < 500; ++i) {
    const PlanCase plan_case = RandomCase(random);
    const PlanInput input = *MakeInput(plan_case);
    for (const World* world : {&input.source(), &input.target()}) {
      for (const Process& process : world->processes()) {
        const absl::Status status =
            CheckCover(input, *PlanForProcess(input, process.id));
        EXPECT_TRUE(status.ok()) << status << "\n" << plan_case;
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
