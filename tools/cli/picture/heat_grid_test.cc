#include "tools/cli/picture/heat_grid.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "tools/cli/picture/testutil.h"

namespace dynatrain::cli {
namespace {

using transition::Preview;

int64_t SumOfCells(const HeatGrid& grid) {
  int64_t bytes = 0;
  for (const HeatCell& cell : grid.cells) {
    bytes += cell.inside_bytes + cell.between_bytes;
  }
  return bytes;
}

// dp 2 -> 4, one MB per row: ranks 0 and 1 had rows 0..7 and 8..15, and give
// rows 4..7 to rank 1, 8..11 and 12..15 to ranks 2 and 3. Rank 0 and 1 are on
// node 0, the others on node 1; node 2 has nobody.
TEST(HeatGrid, IsOfRanksWhereTheyAreFew) {
  const Preview preview = PreviewForTest(4, 2, 1, false);
  const HeatGrid grid = GridOf(preview, PlacesOf(preview));
  EXPECT_EQ(grid.unit, "rank");
  ASSERT_EQ(grid.size(), 4);
  EXPECT_EQ(grid.at(0, 1).inside_bytes, 4'000'000);
  EXPECT_EQ(grid.at(1, 2).between_bytes, 4'000'000);
  EXPECT_EQ(grid.at(1, 3).between_bytes, 4'000'000);
  EXPECT_EQ(SumOfCells(grid), preview.traffic.total_bytes());
  EXPECT_EQ(grid.groups[1].between_out_bytes, 8'000'000);
  EXPECT_EQ(grid.groups[1].inside_in_bytes, 4'000'000);
  EXPECT_EQ(grid.groups[1].role, Role::kStays);
  EXPECT_EQ(grid.groups[2].role, Role::kJoins);
  EXPECT_TRUE(grid.groups[2].begins_node);
  EXPECT_FALSE(grid.groups[3].begins_node);
}

TEST(HeatGrid, IsOfNodesWhereRanksAreMany) {
  const Preview preview = PreviewForTest(96, 8, 8, false);
  const HeatGrid grid = GridOf(preview, PlacesOf(preview));
  EXPECT_EQ(grid.unit, "node");
  ASSERT_EQ(grid.size(), 12);
  EXPECT_EQ(grid.groups[11].label, "11");
  EXPECT_EQ(SumOfCells(grid), preview.traffic.total_bytes());
}

TEST(HeatGrid, IsOfNeighbouringNodesWhereNodesAreMany) {
  const Preview preview = PreviewForTest(260, 1, 1, false);
  const HeatGrid grid = GridOf(preview, PlacesOf(preview));
  EXPECT_EQ(grid.unit, "nodes");
  ASSERT_EQ(grid.size(), 87);
  EXPECT_EQ(grid.groups[0].label, "0-2");
  EXPECT_EQ(grid.groups[86].label, "258-259");
  // Half of 260 stay: 0 to 129, so 129 is in a group with joiners.
  EXPECT_EQ(grid.groups[43].role, Role::kMixed);
  EXPECT_EQ(SumOfCells(grid), preview.traffic.total_bytes());
}

TEST(HeatGrid, OfRailsHasWhatGoesBetweenNodes) {
  const Preview preview = PreviewForTest(4, 2, 1, false);
  const HeatGrid rails = RailGridOf(preview);
  ASSERT_EQ(rails.size(), 2);
  // From ranks 1 to 2 and 3: rail 1 to rails 0 and 1.
  EXPECT_EQ(rails.at(1, 0).between_bytes, 4'000'000);
  EXPECT_EQ(rails.at(1, 1).between_bytes, 4'000'000);
  EXPECT_EQ(SumOfCells(rails), preview.loads.between_bytes);
}

}  // namespace
}  // namespace dynatrain::cli
