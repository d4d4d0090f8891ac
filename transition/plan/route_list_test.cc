#include "transition/plan/route_list.h"

#include <algorithm>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

Route RandomRoute(std::mt19937_64& random) {
  const auto pick = [&](int64_t high) {
    return std::uniform_int_distribution<int64_t>(0, high)(random);
  };
  Route route = {.tensor = static_cast<int>(pick(5)),
                 .source_rank = 7,
                 .target_rank = 1000,
                 .source_copy = static_cast<int>(pick(3)),
                 .target_copy = static_cast<int>(pick(1 << 27))};
  // As of a tensor, all with as many dims as its tensor has.
  std::vector<int64_t> origin(route.tensor % (vps::kMaxDims + 1)),
      shape(origin.size());
  for (int64_t& index : origin) index = pick(2);
  for (int64_t& extent : shape) extent = 1 + pick(2);
  route.region = *vps::Box::Create(origin, shape);
  return route;
}

TEST(RouteList, GivesBackWhatWasAdded) {
  std::mt19937_64 random = TestRandom(50);
  for (int i = 0; i < 200; ++i) {
    std::vector<Route> routes;
    RouteList list;
    for (int n = 0; n < i; ++n) {
      routes.push_back(RandomRoute(random));
      list.push_back(routes.back());
    }
    EXPECT_EQ(std::vector<Route>(list.begin(), list.end()), routes);
    std::sort(routes.begin(), routes.end());
    list.Sort();
    EXPECT_EQ(std::vector<Route>(list.begin(), list.end()), routes);
  }
}

TEST(RouteList, SharesShapes) {
  std::mt19937_64 random = TestRandom(51);
  Route route = RandomRoute(random);
  RouteList shared, single;
  const RouteList::Shape shape = shared.AddShape(route);
  for (route.tensor = 0; route.tensor < 9; ++route.tensor) {
    shared.Append(route.tensor, shape);
    single.push_back(route);
  }
  EXPECT_EQ(shared, single);
  EXPECT_EQ(shared[8].tensor, 8);
  single.push_back(route);
  EXPECT_FALSE(shared == single);
  single.clear();
  EXPECT_TRUE(single.empty());
}

TEST(LocalRouteList, RemembersWhatIsAdopted) {
  std::mt19937_64 random = TestRandom(52);
  std::vector<LocalRoute> routes;
  LocalRouteList list;
  for (int i = 0; i < 100; ++i) {
    routes.push_back({RandomRoute(random), i % 3 == 0});
    list.push_back(routes.back());
  }
  EXPECT_EQ(std::vector<LocalRoute>(list.begin(), list.end()), routes);
}

}  // namespace
}  // namespace dynatrain::transition
