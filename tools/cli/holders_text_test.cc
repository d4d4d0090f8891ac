#include "tools/cli/holders_text.h"

#include <gtest/gtest.h>

#include <vector>

#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"
#include "vps/layout/rank_group.h"

namespace dynatrain::cli {
namespace {

// The ranks of a mesh that are at 0 on all but these axes.
std::string Text(std::vector<vps::MeshAxis> mesh, std::vector<int> axes) {
  vps::HolderSet holders(0);
  holders.AddAll(vps::RankGroup(*vps::Mesh::Create(std::move(mesh)),
                                vps::AxisGroup{.axes = std::move(axes)}));
  return HoldersText(holders);
}

TEST(HoldersTextTest, NamesRanks) {
  EXPECT_EQ(Text({{"dp", 2}}, {}), "rank 0");
  EXPECT_EQ(Text({{"dp", 4}}, {0}), "ranks 0-3");
  EXPECT_EQ(Text({{"dp", 8}, {"tp", 4}}, {0}), "ranks 0, 4 .. 28");
}

TEST(HoldersTextTest, CountsVeryManyOnce) {
  EXPECT_EQ(Text({{"dp", 8192}, {"tp", 2}}, {0}),
            "ranks 0, 2 .. 8190, ... (8192 in all)");
  EXPECT_EQ(Text({{"pp", 2048}, {"dp", 2}, {"tp", 3}}, {0, 2}),
            "ranks 0-2, 6-8, 12-14, 18-20, 24-26, 30-32, 36-38, 42-44, "
            "... (6144 in all)");
}

}  // namespace
}  // namespace dynatrain::cli
