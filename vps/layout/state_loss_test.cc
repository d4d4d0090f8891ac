#include "vps/layout/state_loss.h"

#include <cstdint>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/boxes.h"
#include "vps/layout/brute_force.h"
#include "vps/layout/named_layout.h"
#include "vps/layout/random_layout.h"

namespace dynatrain::vps {
namespace {

Layout Make(absl::string_view sizes) {
  const auto tensor = [](std::string name, std::string state,
                         std::vector<int64_t> shape, Sharding sharding) {
    return ManifestTensor{*TensorSpec::Create(std::move(name), std::move(state),
                                              Dtype::kFloat32, shape),
                          std::move(sharding)};
  };
  return *MakeLayout(
      Mesh::Of(*AxisSizes::Parse(sizes)),
      *Manifest::Create({tensor("norm", "param", {4}, {}),
                         tensor("w", "exp_avg", {8}, {{"dp", 0}}),
                         tensor("w", "param", {8, 3}, {{"tp", 0}, {"dp", 0}}),
                         tensor("x", "param", {1}, {{"dp", 0}})}));
}

TEST(StateLoss, OfNoRankIsEmpty) {
  EXPECT_TRUE(ComputeStateLoss(Make("dp2"), {}).empty());
  EXPECT_EQ(ComputeStateLoss(Make("dp2"), {}).DebugString(Make("dp2")), "");
}

TEST(StateLoss, NamesWhatOnlyTheLostRankHeld) {
  const Layout layout = Make("dp2");
  const StateLoss loss = ComputeStateLoss(layout, {1});
  // norm is replicated; x is rank 0's alone.
  EXPECT_EQ(loss.DebugString(layout),
            "64 bytes of 2 tensors have no copy left: w/exp_avg [4:8] (was on "
            "rank 1), w/param [4:8, 0:3] (was on rank 1)");
}

TEST(StateLoss, IsNothingWhileAReplicaLives) {
  EXPECT_TRUE(ComputeStateLoss(Make("dp2,rep2"), {0, 1}).empty());
  EXPECT_FALSE(ComputeStateLoss(Make("dp2,rep2"), {0, 2}).empty());
}

TEST(StateLoss, OfAllRanksIsEverythingAndListsAsManyAsAsked) {
  const Layout layout = Make("dp2,tp2,rep2");
  const StateLoss loss =
      ComputeStateLoss(layout, {7, 6, 5, 4, 3, 2, 1, 0, 0}, 3);
  EXPECT_EQ(loss.bytes, layout.num_bytes());
  EXPECT_EQ(loss.num_tensors, layout.num_tensors());
  EXPECT_EQ(loss.first.size(), 3);
}

// Against counting elements that no surviving rank's box contains.
TEST(StateLoss, AgreesWithCountingElements) {
  std::mt19937_64 random = TestRandom(21);
  for (int i = 0; i < 200; ++i) {
    const AxisSizes sizes =
        *AxisSizes::Create({.dp = static_cast<int>(random() % 3 + 1),
                            .tp = static_cast<int>(random() % 3 + 1),
                            .rep = static_cast<int>(random() % 2 + 1)});
    const Layout layout = Make(sizes.ToString());
    std::vector<int> lost, alive;
    for (int rank = 0; rank < layout.world_size(); ++rank) {
      (random() % 2 == 0 ? lost : alive).push_back(rank);
    }
    int64_t bytes = 0;
    for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
      for (const Index& e : ElementsOf(layout.tensor(tensor).whole())) {
        const Box element = *Box::Create(e, std::vector<int64_t>(e.size(), 1));
        bool held = false;
        for (int rank : alive) {
          held = held || LocalBox(layout, rank, tensor).Contains(element);
        }
        if (!held) bytes += 4;
      }
    }
    EXPECT_EQ(ComputeStateLoss(layout, lost).bytes, bytes) << sizes;
  }
}

// A layout, and which of its ranks are lost: by the bits of `lost`, so that any
// number is right for any world.
struct LossCase {
  LayoutCase layout;
  uint64_t lost = 0;

  bool IsLost(int rank) const { return (lost >> rank & 1) != 0; }
  friend std::ostream& operator<<(std::ostream& out, const LossCase& it) {
    return out << it.layout << "lost are the bits of " << it.lost;
  }
};

std::vector<LossCase> SmallerLosses(const LossCase& it) {
  std::vector<LossCase> smaller;
  for (LayoutCase& layout : Smaller(it.layout, /*drop_tensors=*/true)) {
    smaller.push_back({std::move(layout), it.lost});
  }
  for (int rank = 0; rank < it.layout.world_size(); ++rank) {
    if (!it.IsLost(rank)) continue;
    smaller.push_back({it.layout, it.lost & ~(uint64_t{1} << rank)});
  }
  return smaller;
}

// Bytes that no surviving rank has, counted by the oracle that enumerates.
struct Counted {
  int64_t bytes = 0;
  int64_t bytes_of_first = 0;  // if there were no other copies
};

Counted CountLost(const LossCase& it, const Layout& layout) {
  Counted counted;
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    std::vector<std::set<int64_t>> alive_in(layout.num_copies(tensor));
    std::set<int64_t> alive_in_any;
    for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
      for (int rank = 0; rank < layout.world_size(); ++rank) {
        if (it.IsLost(rank)) continue;
        const auto own = BruteForceMemory(it.layout, rank, tensor, copy);
        if (!own.has_value()) continue;
        alive_in[copy].insert(own->elements.begin(), own->elements.end());
      }
      alive_in_any.insert(alive_in[copy].begin(), alive_in[copy].end());
    }
    const TensorSpec& spec = layout.tensor(tensor);
    const int64_t elements = spec.whole().num_elements();
    counted.bytes += (elements - alive_in_any.size()) * spec.item_bytes();
    counted.bytes_of_first +=
        (elements - alive_in[0].size()) * spec.item_bytes();
  }
  return counted;
}

void ExpectCountedLoss(const LossCase& it) {
  const Layout layout = *MakeLayout(it.layout);
  std::vector<int> lost;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    if (it.IsLost(rank)) lost.push_back(rank);
  }
  EXPECT_EQ(ComputeStateLoss(layout, lost).bytes, CountLost(it, layout).bytes);
}

// The same for layouts of any kind: copies elsewhere save what one copy lost,
// be they cut otherwise or flat.
TEST(StateLoss, AgreesWithCountingElementsOfEveryCopy) {
  std::mt19937_64 random = TestRandom(22);
  int saved_by_a_copy = 0;
  for (int i = 0; i < 1000; ++i) {
    const LossCase drawn = {RandomLayout(RandomTensors(random), 8, random),
                            random() | random()};
    CheckShrunk(drawn, SmallerLosses, ExpectCountedLoss);
    if (HasFailure()) return;
    const Counted counted = CountLost(drawn, *MakeLayout(drawn.layout));
    saved_by_a_copy += counted.bytes < counted.bytes_of_first;
  }
  EXPECT_GE(saved_by_a_copy, 20);
}

}  // namespace
}  // namespace dynatrain::vps
