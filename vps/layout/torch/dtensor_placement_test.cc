#include "vps/layout/torch/dtensor_placement.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Mesh DpTp() { return *Mesh::Create({{"dp", 2}, {"tp", 4}}); }

template <typename T>
void ExpectRefused(const absl::StatusOr<T>& result, const char* why) {
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(why));
}

TEST(DTensorPlacement, ReadsWhatTorchPrints) {
  for (const char* text : {"R", "Replicate()", " R "}) {
    EXPECT_EQ(*ParseDTensorPlacement(text), DTensorPlacement{}) << text;
  }
  for (const char* text : {"S(1)", "Shard(1)", "Shard(dim=1)"}) {
    EXPECT_EQ(*ParseDTensorPlacement(text), DTensorPlacement{1}) << text;
  }
  for (const char* text : {"_S(0, 4)", "_StridedShard(dim=0, sf=4)",
                           "_StridedShard(0, split_factor=4)"}) {
    EXPECT_EQ(*ParseDTensorPlacement(text), (DTensorPlacement{0, 4})) << text;
  }
}

TEST(DTensorPlacement, PrintsWhatItReads) {
  for (const char* text : {"R", "S(0)", "S(3)", "_S(1, 2)"}) {
    EXPECT_EQ(DebugString(*ParseDTensorPlacement(text)), text);
  }
}

TEST(DTensorPlacement, RefusesWhatIsNone) {
  for (const char* text :
       {"", "S", "S()", "S(-1)", "S(x)", "S(0, 2)", "_S(0)", "_S(0, 0)",
        "Shard(axis=0)", "S(0", "R()", "S(99999999999)", "s(0)"}) {
    ExpectRefused(ParseDTensorPlacement(text), "is no placement");
  }
  ExpectRefused(ParseDTensorPlacement("P(sum)"), "partial");
  ExpectRefused(ParseDTensorPlacement("Partial()"), "partial");
}

TEST(CutsOfPlacements, AreInTheOrderOfTheMesh) {
  const std::vector<Cut> cuts =
      *CutsOfPlacements(DpTp(), 2, {{.dim = 1, .split_factor = 4}, {.dim = 0}});
  EXPECT_THAT(cuts, ElementsAre(Cut{.group = {{0}}, .dim = 1, .num_blocks = 4},
                                Cut{.group = {{1}}, .dim = 0}));
}

TEST(CutsOfPlacements, LeaveOutWhatReplicatesAndAxesOfOneRank) {
  const Mesh mesh = *Mesh::Create({{"dp", 1}, {"tp", 4}});
  EXPECT_THAT(*CutsOfPlacements(mesh, 1, {{.dim = 0}, {}}), IsEmpty());
}

TEST(CutsOfPlacements, RefuseNamingThePlacement) {
  ExpectRefused(CutsOfPlacements(DpTp(), 2, {{.dim = 0}}),
                "1 placements for the 2 axes of mesh dp2,tp4");
  ExpectRefused(CutsOfPlacements(DpTp(), 2, {{}, {.dim = 2}}),
                "placements[1]: dim 2 is not in 0..1");
  ExpectRefused(CutsOfPlacements(DpTp(), 0, {{.dim = 0}, {}}),
                "placements[0]: dim 0: a scalar has no dim to shard");
  ExpectRefused(
      CutsOfPlacements(DpTp(), 1, {{.dim = 0, .split_factor = 0}, {}}),
      "split_factor 0 is below 1");
}

}  // namespace
}  // namespace dynatrain::vps
