#include "vps/layout/mesh.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Mesh, RunsTheLastAxisFastest) {
  const Mesh mesh = *Mesh::Create({{"a", 2}, {"b", 3}});
  EXPECT_EQ(mesh.world_size(), 6);
  EXPECT_THAT(mesh.CoordinatesOf(4), ElementsAre(1, 1));
  EXPECT_EQ(mesh.RankOf({1, 1}), 4);
  EXPECT_EQ(mesh.stride(0), 3);
  EXPECT_EQ(mesh.AxisIndex("b"), 1);
  EXPECT_EQ(mesh.AxisIndex("c"), std::nullopt);
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(mesh.RankOf(mesh.CoordinatesOf(rank)), rank);
  }
}

TEST(Mesh, OfNoAxesIsOneRank) {
  const Mesh mesh = *Mesh::Create({});
  EXPECT_EQ(mesh.world_size(), 1);
  EXPECT_EQ(mesh.RankOf({}), 0);
}

TEST(Mesh, HasNoRankOutsideOfItsAxes) {
  const Mesh mesh = *Mesh::Create({{"a", 2}, {"b", 3}});
  EXPECT_EQ(mesh.RankOf({2, 0}), std::nullopt);
  EXPECT_EQ(mesh.RankOf({0, -1}), std::nullopt);
  EXPECT_EQ(mesh.RankOf({0}), std::nullopt);
}

TEST(Mesh, OfAxisSizesHasTpFastestAndPpSlowest) {
  EXPECT_EQ(Mesh::Of(*AxisSizes::Parse("dp2,tp3,pp4,rep5")).DebugString(),
            "pp4,rep5,dp2,ep1,tp3");
}

TEST(Mesh, RefusesWhatIsNoMesh) {
  const std::pair<std::vector<MeshAxis>, const char*> table[] = {
      {{{"a", 2}, {"a", 2}}, "\"a\" is there twice"},
      {{{"a", 0}}, "\"a\" has size 0"},
      {{{"", 2}}, "axis 0 has no name"},
      {{{"a", 1 << 20}, {"b", 2}}, "up to axis \"b\""},
      {std::vector<MeshAxis>(9, {"a", 1}), "9 axes; at most 8"},
  };
  for (const auto& [axes, why] : table) {
    const auto mesh = Mesh::Create(axes);
    EXPECT_EQ(mesh.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(mesh.status().message()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace dynatrain::vps
