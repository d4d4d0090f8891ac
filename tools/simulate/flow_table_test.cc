#include "tools/simulate/flow_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::simulate {
namespace {

TEST(FlowTableTest, AddsUpPairByPairInOrder) {
  FlowTable table;
  EXPECT_TRUE(table.Flows().empty());
  EXPECT_EQ(table.MaxSent(), 0);
  EXPECT_EQ(table.MaxReceived(), 0);
  table.Add(1'000'000, 0, 5);
  table.Add(0, 2, 3);
  table.Add(0, 1, 1);
  table.Add(0, 2, 4);
  table.Add(3, 3, 100);  // to itself
  table.Add(2, 1, 6);
  table.Add(2, 1, -6);
  const auto flows = table.Flows();
  ASSERT_EQ(flows.size(), 3);
  EXPECT_EQ(flows[0].receiver, 1);
  EXPECT_EQ(flows[1].receiver, 2);
  EXPECT_EQ(flows[1].bytes, 7);
  EXPECT_EQ(flows[2].sender, 1'000'000);
  EXPECT_EQ(table.MaxSent(), 8);
  EXPECT_EQ(table.MaxReceived(), 7);
}

}  // namespace
}  // namespace dynatrain::simulate
