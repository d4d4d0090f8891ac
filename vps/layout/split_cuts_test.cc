#include "vps/layout/split_cuts.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Mesh DpTp() { return *Mesh::Create({{"dp", 2}, {"tp", 4}}); }

void ExpectRefused(const absl::StatusOr<std::vector<Cut>>& cuts,
                   const char* why) {
  EXPECT_EQ(cuts.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(cuts.status().message()), HasSubstr(why));
}

TEST(CutsOfSplits, AreInTheOrderOfTheSplits) {
  EXPECT_THAT(*CutsOfSplits(DpTp(), 1, {{"tp", 0}, {"dp", 0}}),
              ElementsAre(Cut{.group = {{1}}, .dim = 0},
                          Cut{.group = {{0}}, .dim = 0}));
}

TEST(CutsOfSplits, RefuseNamingTheSplit) {
  ExpectRefused(CutsOfSplits(DpTp(), 1, {{"tp", 0}, {"ep", 0}}),
                "splits[1]: axis \"ep\" is none of mesh dp2,tp4");
  ExpectRefused(CutsOfSplits(DpTp(), 1, {{"tp", 0}, {"tp", 0}}),
                "splits[1]: axis tp splits already");
  ExpectRefused(CutsOfSplits(DpTp(), 1, {{"tp", 1}}), "splits[0]: dim 1");
}

TEST(CutsOfSplits, LeaveOutAxesOfOneRank) {
  const Mesh mesh = *Mesh::Create({{"dp", 1}, {"tp", 4}});
  EXPECT_THAT(*CutsOfSplits(mesh, 1, {{"dp", 0}}), IsEmpty());
}

}  // namespace
}  // namespace dynatrain::vps
