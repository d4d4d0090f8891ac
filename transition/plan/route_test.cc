#include "transition/plan/route.h"

#include <set>

#include "gtest/gtest.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

PlanInput Input() {
  const vps::Manifest model = *vps::Manifest::Create(
      {TensorForTest("a", {8, 4}, {}), TensorForTest("b", {8, 4}, {})});
  return *PlanInput::Create(WorldForTest("dp2", model, {10, 20}),
                            WorldForTest("dp2", model, {30, 40}));
}

Route Base() {
  return {.tensor = 1,
          .region = *vps::Box::Create({2, 0}, {3, 4}),
          .source_rank = 0,
          .target_rank = 1};
}

TEST(Route, SaysWhatGoesWhere) {
  EXPECT_EQ(Base().DebugString(Input()),
            "b/param [2:5, 0:4] from rank 0 to rank 1");
  EXPECT_EQ(NumBytes(Base(), Input()), 48);
}

TEST(Route, IsOrderedByTensorThenRegion) {
  Route earlier = Base(), later = Base();
  earlier.region = *vps::Box::Create({1, 3}, {1, 1});
  EXPECT_LT(earlier, Base());
  later.tensor = 2;
  later.region = earlier.region;
  EXPECT_LT(Base(), later);
}

TEST(Route, HashSeesEveryField) {
  std::set<uint64_t> hashes = {HashOf(Base(), Input())};
  Route other = Base();
  other.tensor = 0;
  hashes.insert(HashOf(other, Input()));
  other = Base();
  other.source_rank = 1;
  hashes.insert(HashOf(other, Input()));
  other = Base();
  other.target_rank = 0;
  hashes.insert(HashOf(other, Input()));
  other = Base();
  other.region = *vps::Box::Create({2, 0}, {4, 4});
  hashes.insert(HashOf(other, Input()));
  other.region = *vps::Box::Create({1, 0}, {3, 4});
  hashes.insert(HashOf(other, Input()));
  EXPECT_EQ(hashes.size(), 6);
}

}  // namespace
}  // namespace dynatrain::transition
