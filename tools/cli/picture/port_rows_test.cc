#include "tools/cli/picture/port_rows.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "tools/cli/picture/testutil.h"

namespace dynatrain::cli {
namespace {

using transition::Lane;
using transition::LaneTimeline;
using transition::Preview;

TEST(PortRows, AreNamedAsPeopleCallThem) {
  const Preview shared = PreviewForTest(4, 2, 1, false);
  const PortRows inside(shared, PlacesOf(shared), Lane::kInside);
  ASSERT_EQ(inside.size(), 4);
  EXPECT_EQ(inside.rows()[3].label, "rank 3");
  const PortRows nics(shared, PlacesOf(shared), Lane::kBetween);
  ASSERT_EQ(nics.size(), 2);
  EXPECT_EQ(nics.rows()[1].label, "node 1 NIC 0");
  const Preview own = PreviewForTest(4, 2, 2, false);
  EXPECT_EQ(PortRows(own, PlacesOf(own), Lane::kBetween).rows()[3].label,
            "rank 3");
  const Preview many = PreviewForTest(96, 8, 4, false);
  const PortRows nodes(many, PlacesOf(many), Lane::kInside);
  ASSERT_EQ(nodes.size(), 12);
  EXPECT_FALSE(nodes.by_port());
  EXPECT_EQ(nodes.rows()[11].label, "node 11");
  EXPECT_EQ(nodes.rows()[11].num_ports, 8);
  EXPECT_TRUE(PortRows(many, PlacesOf(many), Lane::kBetween).by_port());
  const Preview most = PreviewForTest(260, 1, 1, false);
  const PortRows runs(most, PlacesOf(most), Lane::kBetween);
  EXPECT_EQ(runs.rows()[0].label, "nodes 0-2");
  EXPECT_EQ(runs.rows()[0].num_ports, 3);
  EXPECT_EQ(runs.rows().back().num_ports, 2);
}

// Whatever goes is somewhere in the bins, whether or not rows are ports.
TEST(PortRows, UtilisationHasAllBytes) {
  for (int ranks : {4, 24, 96}) {
    for (bool grouped : {false, true}) {
      const Preview preview = PreviewForTest(ranks, 4, 2, grouped);
      const int64_t ns = preview.transfer_ns;
      for (const LaneTimeline& timeline : TimelinesOf(preview)) {
        const PortRows rows(preview, PlacesOf(preview), timeline.lane);
        double expected = 0;
        for (const auto& it : timeline.transfers) expected += it.parcel.bytes;
        for (Direction direction : {Direction::kOut, Direction::kIn}) {
          const auto busy = UtilisationOf(rows, timeline, direction, ns, 50);
          double bytes = 0;
          for (int row = 0; row < rows.size(); ++row) {
            for (double share : busy[row]) {
              EXPECT_LE(share, 1.000001);
              bytes += share * rows.CapacityBytes(row, ns / 50.0);
            }
          }
          EXPECT_NEAR(bytes, expected, 1 + expected * 1e-9);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::cli
