#include "vps/layout/megatron/job_meshes.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<JobMeshes> Make(const Ranks::Sizes& sizes,
                               bool has_experts = true,
                               const char* version = "0.16.1") {
  LayoutBuilder builder;
  return JobMeshes::Create(*Ranks::Create(sizes), *FindMegatronVersion(version),
                           has_experts, builder);
}

TEST(JobMeshes, OfADenseModelIsOne) {
  const JobMeshes meshes =
      *Make({.world = 16, .tp = 2, .cp = 2, .pp = 2}, false);
  EXPECT_FALSE(meshes.experts_apart);
  EXPECT_EQ(meshes.experts.mesh, meshes.dense.mesh);
  // pp, dp, cp, tp.
  EXPECT_THAT(meshes.dense.located_by, ElementsAre(0));
  EXPECT_EQ(meshes.dense.cut_axis, 3);
  EXPECT_EQ(meshes.dense.shards, (AxisGroup{{1, 2}, 4}));
}

TEST(JobMeshes, ExpertsAreApartWithExpertRanks) {
  const JobMeshes meshes = *Make(
      {.world = 16, .tp = 2, .ep = 4, .etp = 1, .optimizer_instances = 2});
  EXPECT_TRUE(meshes.experts_apart);
  // pp, edp, ep, etp.
  EXPECT_EQ(meshes.experts.mesh, 1);
  EXPECT_THAT(meshes.experts.located_by, ElementsAre(0, 2));
  EXPECT_EQ(meshes.experts.cut_pieces, 1);
  EXPECT_EQ(meshes.experts.shards, (AxisGroup{{1}, 2}));
}

TEST(JobMeshes, ExpertsCutOtherwiseAreApartByVersion) {
  const Ranks::Sizes sizes = {.world = 8, .tp = 4, .etp = 2};
  EXPECT_TRUE(Make(sizes, true, "0.20.0")->experts_apart);
  const JobMeshes meshes = *Make(sizes);
  EXPECT_FALSE(meshes.experts_apart);
  // pp, dp, cp, tp/etp, etp: sharded over dp and cp, cut over etp.
  EXPECT_EQ(meshes.experts.mesh, 1);
  EXPECT_EQ(meshes.experts.cut_axis, 4);
  EXPECT_EQ(meshes.experts.cut_pieces, 2);
  EXPECT_EQ(meshes.experts.shards, (AxisGroup{{1, 2}, 2}));
}

TEST(JobMeshes, ExpertsThatAreNotCutGoWithAnyOrder) {
  for (const int64_t tp : {1, 2}) {
    const JobMeshes meshes =
        *Make({.world = 8, .tp = tp, .cp = 2, .etp = 1, .order = "dp-tp-cp"});
    EXPECT_FALSE(meshes.experts_apart);
    EXPECT_EQ(meshes.experts.cut_pieces, 1);
  }
}

TEST(JobMeshes, RefusesToSumGradientsOfDifferentParts) {
  EXPECT_THAT(
      std::string(Make({.world = 4, .tp = 1, .etp = 2}).status().message()),
      HasSubstr("etp 2 with ep 1 and tp 1"));
  // dp before tp: with cp 2, the ranks of one tp are not those of one etp.
  EXPECT_FALSE(Make({.world = 8, .tp = 2, .cp = 2, .order = "dp-tp-cp"}).ok());
  EXPECT_TRUE(
      Make({.world = 8, .tp = 2, .cp = 2, .order = "dp-tp-cp"}, false).ok());
}

}  // namespace
}  // namespace dynatrain::vps::megatron
