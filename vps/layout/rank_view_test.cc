#include "vps/layout/rank_view.h"

#include <random>
#include <vector>

#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/layout/layout.h"
#include "vps/layout/random_layout.h"

namespace dynatrain::vps {
namespace {

void ExpectViewsLikeLayout(const LayoutCase& layout_case) {
  const Layout layout = *MakeLayout(layout_case);
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    const RankView view(layout, rank);
    for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
      for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
        EXPECT_EQ(view.IsAt(tensor, copy), layout.IsAt(rank, tensor, copy));
      }
      std::vector<OwnedRegion> expected, actual;
      layout.ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
        expected.push_back(region);
      });
      view.ForEachRegionOf(
          tensor, [&](const OwnedRegion& region) { actual.push_back(region); });
      EXPECT_EQ(actual, expected) << "rank " << rank << ", tensor " << tensor;
    }
  }
}

TEST(RankView, SaysOfARankWhatItsLayoutSays) {
  std::mt19937_64 random = TestRandom(41);
  for (int i = 0; i < 300; ++i) {
    CheckShrunk(
        RandomLayout(RandomTensors(random), /*max_ranks=*/12, random),
        [](const LayoutCase& it) { return Smaller(it, /*drop_tensors=*/true); },
        ExpectViewsLikeLayout);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps
