#include "transition/check/plan_claims.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/world.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/mesh.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One rank with tensors in that order, as many elements each as its name has
// letters.
World OneRank(const std::vector<std::string>& names) {
  vps::LayoutBuilder builder;
  builder.AddMesh(*vps::Mesh::Create({{"dp", 1}}));
  builder.AddPlacement({});
  for (const std::string& name : names) {
    const int tensor = builder.AddTensor(
        *vps::TensorSpec::Create(name, "param", vps::Dtype::kFloat32,
                                 {static_cast<int64_t>(name.size())}));
    builder.AddCopy(tensor, {});
  }
  return *World::Create(*std::move(builder).Build(), {{.id = 1, .member = 1}});
}

Piece Whole(int tensor, int64_t size) {
  return {tensor, *vps::Box::Whole({size})};
}

TEST(PlanClaimsTest, TensorsAreNumberedAsInTheTarget) {
  const Claims claims =
      ClaimsOf(*PlanInput::Create(OneRank({"bb", "a"}), OneRank({"a", "bb"})));
  EXPECT_THAT(claims.ranks[0].source, ElementsAre(Whole(1, 2), Whole(0, 1)));
  EXPECT_THAT(claims.ranks[0].target, ElementsAre(Whole(0, 1), Whole(1, 2)));
  EXPECT_THAT(claims.ranks[0].zeros, IsEmpty());
}

TEST(PlanClaimsTest, WhatIsMadeAnewIsNotToBeWritten) {
  const PlanInput input =
      *PlanInput::Create(OneRank({"a", "bb"}), OneRank({"a", "bb"}));
  const Claims claims =
      ClaimsOf(*input.WithRegenerated({{{.weight = 0, .master = 1}}}));
  EXPECT_THAT(claims.ranks[0].source, ElementsAre(Whole(0, 1), Whole(1, 2)));
  EXPECT_THAT(claims.ranks[0].target, ElementsAre(Whole(1, 2)));
}

}  // namespace
}  // namespace dynatrain::transition
