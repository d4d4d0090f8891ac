// Layouts that people know, by hand: what each step of the chain does.
#include "vps/layout/layout.h"

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/regions_testutil.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;

TensorSpec Spec(std::vector<int64_t> shape) {
  return *TensorSpec::Create("w", "param", Dtype::kFloat32, shape);
}

// One tensor, one copy.
Layout Make(std::vector<MeshAxis> axes, std::vector<int64_t> shape,
            Placement placement, Held held = {}) {
  LayoutBuilder builder;
  builder.AddMesh(*Mesh::Create(std::move(axes)));
  builder.AddPlacement(std::move(placement));
  builder.AddCopy(builder.AddTensor(Spec(std::move(shape))), held);
  return *std::move(builder).Build();
}

// "[0:2] at 0, [4:6] at 2": what the rank holds and where in its memory.
std::string RegionsOf(const Layout& layout, int rank) {
  std::vector<std::string> texts;
  layout.ForEachRegion(rank, [&](const OwnedRegion& region) {
    texts.push_back(RegionText(region));
  });
  return absl::StrJoin(texts, ", ");
}

std::vector<int> OwnersOf(const Layout& layout, int copy,
                          std::vector<int64_t> index) {
  const HolderSet owners = layout.Owners(0, copy, index);
  std::vector<int> ranks;
  for (int i = 0; i < owners.size(); ++i) ranks.push_back(owners.rank(i));
  return ranks;
}

// MEGATRON_LAYOUT 6.2: ffn 4, tp 2, gated fc1 [gate; up]: rank 0 has rows
// 0, 1, 4, 5.
TEST(Layout, CutsGateAndUpAsTwoBlocks) {
  const Layout layout =
      Make({{"tp", 2}}, {8, 3}, {.cuts = {{.group = {{0}}, .num_blocks = 2}}});
  EXPECT_EQ(RegionsOf(layout, 0), "[0:2, 0:3] at 0, [4:6, 0:3] at 6");
  EXPECT_EQ(RegionsOf(layout, 1), "[2:4, 0:3] at 0, [6:8, 0:3] at 6");
}

TEST(Layout, CutsUnequalBlocksEachByItself) {
  const Layout layout =
      Make({{"tp", 2}}, {2, 10},
           {.cuts = {{.group = {{0}}, .dim = 1, .block_extents = {6, 0, 4}}}});
  EXPECT_EQ(RegionsOf(layout, 1), "[0:2, 3:6] at 0, [0:2, 8:10] at 3");
}

// torch 2.15: (_StridedShard(0, split_factor=2), Shard(0)) on (dp, tp) of 8
// rows gives rank (dp 0, tp 1) row 4 and 5: FSDP2 inside of TP.
TEST(Layout, CutsAStridedShardAsTorchDoes) {
  const Layout layout =
      Make({{"dp", 2}, {"tp", 2}}, {8},
           {.cuts = {{.group = {{0}}, .num_blocks = 2}, {.group = {{1}}}}});
  EXPECT_EQ(RegionsOf(layout, 0), "[0:2] at 0");
  EXPECT_EQ(RegionsOf(layout, 1), "[4:6] at 0");
  EXPECT_EQ(RegionsOf(layout, 2), "[2:4] at 0");
}

// tp leaves 3 rows and 2, which lie behind 4 elements and 2 in the buffer of
// each dp, and behind 1 and 0 in a run that dp cuts.
TEST(Layout, LiesElsewhereOnEachLane) {
  const Placement in_buffer = {.cuts = {{.group = {{1}}}}, .lanes = {1}};
  LayoutBuilder builder;
  builder.AddMesh(*Mesh::Create({{"dp", 2}, {"tp", 2}}));
  builder.AddBuffer("b");
  builder.AddPlacement(in_buffer);
  builder.AddCopy(builder.AddTensor(Spec({5})),
                  {.lanes = {{.storage = {0, 4}}, {.storage = {0, 2}}}});
  const Layout whole = *std::move(builder).Build();
  EXPECT_EQ(whole.BufferOffset(2, 0, 0), 4);
  EXPECT_EQ(whole.BufferOffset(3, 0, 0), 2);
  EXPECT_EQ(in_buffer.DebugString(whole.meshes()[0]),
            "tp cuts dim 0; lies by tp");

  const Layout flat =
      Make({{"dp", 2}, {"tp", 2}}, {5},
           {.cuts = {{.group = {{1}}}}, .flat = Flat{{{0}}}, .lanes = {1}},
           {.lanes = {{.flat = {1, 2}}, {.flat = {0, 1}}}});
  EXPECT_EQ(RegionsOf(flat, 0), "[0:1] at 0");
  EXPECT_EQ(RegionsOf(flat, 2), "[1:3] at 0");
  EXPECT_EQ(RegionsOf(flat, 1), "[3:4] at 0");
  EXPECT_EQ(RegionsOf(flat, 3), "[4:5] at 0");
  EXPECT_THAT(OwnersOf(flat, 0, {2}), ElementsAre(2));
  EXPECT_THAT(OwnersOf(flat, 0, {4}), ElementsAre(3));
  EXPECT_EQ(flat.FlatPositionOf(2, 0, 0), (FlatPosition{1, 2}));
}

// A matrix of 3 x 4 lies at 2 in a run that 2 ranks cut every 8 elements.
TEST(Layout, GivesAFlatShardItsRows) {
  const Layout layout =
      Make({{"dp", 2}}, {3, 4}, {.flat = Flat{{{0}}}}, {.flat = {2, 8}});
  EXPECT_EQ(RegionsOf(layout, 0), "[0:1, 0:4] at 0, [1:2, 0:2] at 4");
  EXPECT_EQ(RegionsOf(layout, 1), "[1:2, 2:4] at 0, [2:3, 0:4] at 2");
  EXPECT_THAT(*layout.LocalShapeOf(0, 0, 0), ElementsAre(6));
  EXPECT_THAT(*layout.LocalShapeOf(1, 0, 0), ElementsAre(6));
  EXPECT_EQ(layout.BufferOffset(0, 0, 0), 2);
  EXPECT_EQ(layout.BufferOffset(1, 0, 0), 0);
  EXPECT_THAT(OwnersOf(layout, 0, {1, 1}), ElementsAre(0));
  EXPECT_THAT(OwnersOf(layout, 0, {1, 2}), ElementsAre(1));
}

TEST(Layout, LeavesAShardEmptyThatATensorDoesNotReach) {
  const Layout layout =
      Make({{"dp", 3}}, {5}, {.flat = Flat{{{0}}}}, {.flat = {10, 8}});
  EXPECT_EQ(RegionsOf(layout, 0), "");
  EXPECT_EQ(RegionsOf(layout, 1), "[0:5] at 0");
  EXPECT_THAT(*layout.LocalShapeOf(2, 0, 0), ElementsAre(0));
}

// Two optimizer instances: dp x cp = 3 x 2 ranks in two runs of three. The same
// places are (dp 0, cp 0) and (dp 1, cp 1): no product of axes.
TEST(Layout, RepeatsShardsInEachInstance) {
  const Layout layout =
      Make({{"dp", 3}, {"cp", 2}}, {6},
           {.flat = Flat{{.axes = {0, 1}, .pieces = 3}}}, {.flat = {0, 2}});
  EXPECT_THAT(OwnersOf(layout, 0, {0}), ElementsAre(0, 3));
  EXPECT_THAT(OwnersOf(layout, 0, {3}), ElementsAre(1, 4));
  EXPECT_EQ(RegionsOf(layout, 4), "[2:4] at 0");
}

// A tied embedding: first and last of three stages hold it, each as it likes.
TEST(Layout, HoldsCopiesEachInItsPlace) {
  LayoutBuilder builder;
  builder.AddMesh(*Mesh::Create({{"pp", 3}, {"tp", 2}}));
  const int rows =
      builder.AddPlacement({.located_by = {0}, .cuts = {{.group = {{1}}}}});
  const int whole = builder.AddPlacement({.located_by = {0}});
  const int tensor = builder.AddTensor(Spec({4}));
  builder.AddCopy(tensor, {.placement = rows, .at = {0}});
  builder.AddCopy(tensor, {.placement = whole, .at = {2}});
  const Layout layout = *std::move(builder).Build();
  EXPECT_EQ(RegionsOf(layout, 1), "[2:4] at 0");
  EXPECT_EQ(RegionsOf(layout, 2), "");
  EXPECT_EQ(RegionsOf(layout, 5), "[0:4] at 0");
  EXPECT_THAT(OwnersOf(layout, 0, {2}), ElementsAre(1));
  EXPECT_THAT(OwnersOf(layout, 1, {2}), ElementsAre(4, 5));
  EXPECT_FALSE(layout.IsAt(2, 0, 0));
  EXPECT_EQ(layout.LocalShapeOf(2, 0, 0), std::nullopt);
}

// MEGATRON_LAYOUT 6.1, world 12, tp3 pp2 ep2 etp1: dense and expert mesh cover
// the same ranks, and ep groups straddle tp groups.
TEST(Layout, SpreadsOverTwoMeshesOfTheSameRanks) {
  LayoutBuilder builder;
  const int dense =
      builder.AddMesh(*Mesh::Create({{"pp", 2}, {"dp", 2}, {"tp", 3}}));
  const int experts =
      builder.AddMesh(*Mesh::Create({{"pp", 2}, {"edp", 3}, {"ep", 2}}));
  const int norm = builder.AddTensor(Spec({4}));
  builder.AddCopy(
      norm,
      {.placement = builder.AddPlacement({.mesh = dense, .located_by = {0}}),
       .at = {1}});
  const int expert = builder.AddTensor(
      *TensorSpec::Create("e1", "param", Dtype::kFloat32, {4}));
  builder.AddCopy(expert, {.placement = builder.AddPlacement(
                               {.mesh = experts, .located_by = {0, 2}}),
                           .at = {0, 1}});
  const Layout layout = *std::move(builder).Build();
  const HolderSet owners = layout.Owners(expert, 0, {0});
  EXPECT_EQ(owners.size(), 3);
  EXPECT_EQ(owners.rank(0), 1);
  EXPECT_EQ(owners.rank(1), 3);
  EXPECT_EQ(owners.rank(2), 5);
  EXPECT_EQ(RegionsOf(layout, 3), "[0:4] at 0");
  EXPECT_EQ(RegionsOf(layout, 2), "");
  EXPECT_EQ(layout.Owners(norm, 0, {0}).size(), 6);
}

TEST(Layout, FindsTensorsByNameAndState) {
  LayoutBuilder builder;
  builder.AddMesh(*Mesh::Create({}));
  const int placement = builder.AddPlacement({});
  for (const char* state : {"param", "exp_avg"}) {
    builder.AddCopy(builder.AddTensor(
                        *TensorSpec::Create("w", state, Dtype::kBfloat16, {3})),
                    {.placement = placement});
  }
  const Layout layout = *std::move(builder).Build();
  EXPECT_EQ(layout.Find("w", "exp_avg"), 1);
  EXPECT_EQ(layout.Find("w", "exp_avg_sq"), std::nullopt);
  EXPECT_EQ(layout.num_bytes(), 12);
}

// One change to what a layout is made of.
struct Made {
  Mesh mesh = *Mesh::Create({{"a", 2}, {"b", 2}});
  int meshes = 1;
  std::vector<std::string> buffers = {"p", "q"};
  Placement placement;
  TensorSpec spec = Spec({8, 8});
  std::vector<Held> copies = {{}};
};

Fingerprint DigestOf(const Made& made) {
  LayoutBuilder builder;
  for (int i = 0; i < made.meshes; ++i) builder.AddMesh(made.mesh);
  for (const std::string& buffer : made.buffers) builder.AddBuffer(buffer);
  builder.AddPlacement(made.placement);
  const int tensor = builder.AddTensor(made.spec);
  for (const Held& held : made.copies) builder.AddCopy(tensor, held);
  return (*std::move(builder).Build()).digest();
}

TEST(Layout, DigestSeesEveryField) {
  const auto spec = [](const char* name, const char* state, Dtype dtype,
                       std::optional<int64_t> pad_from = std::nullopt) {
    return *TensorSpec::Create(name, state, dtype, {8, 8}, pad_from);
  };
  const auto cut = [](Cut cut) { return Placement{.cuts = {std::move(cut)}}; };
  const Placement flat = {.flat = Flat{{{0}}}};
  const Made made[] = {
      {},
      {.mesh = *Mesh::Create({{"a", 2}, {"c", 2}})},
      {.mesh = *Mesh::Create({{"a", 4}, {"b", 1}})},
      {.meshes = 2},
      {.meshes = 2, .placement = {.mesh = 1}},
      {.buffers = {"p"}},
      {.buffers = {"p", "r"}},
      {.placement = cut({.group = {{0}}})},
      {.placement = cut({.group = {{1}}})},
      {.placement = cut({.group = {{0, 1}}})},
      {.placement = cut({.group = {{0, 1}, 2}})},
      {.placement = cut({.group = {{0}}, .dim = 1})},
      {.placement = cut({.group = {{0}}, .num_blocks = 2})},
      {.placement = cut({.group = {{0}}, .block_extents = {4, 4}})},
      {.placement = {.located_by = {0}}, .copies = {{.at = {0}}}},
      {.placement = {.located_by = {0}}, .copies = {{.at = {1}}}},
      {.placement = flat, .copies = {{.flat = {0, 32}}}},
      {.placement = flat, .copies = {{.flat = {1, 33}}}},
      {.placement = flat, .copies = {{.flat = {0, 33}}}},
      {.placement = {.flat = Flat{{{1}}}}, .copies = {{.flat = {0, 32}}}},
      {.spec = Spec({9, 8})},
      {.spec = spec("v", "param", Dtype::kFloat32)},
      {.spec = spec("w", "main", Dtype::kFloat32)},
      {.spec = spec("w", "param", Dtype::kInt32)},
      {.spec = spec("w", "param", Dtype::kFloat32, 7)},
      {.copies = {{}, {}}},
      {.copies = {{.storage = {0, 0}}}},
      {.copies = {{.storage = {1, 0}}}},
      {.copies = {{.storage = {0, 5}}}},
  };
  for (size_t i = 0; i < std::size(made); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(DigestOf(made[i]), DigestOf(made[j])) << i << " and " << j;
    }
  }
  EXPECT_EQ(DigestOf({}), DigestOf({}));
}

}  // namespace
}  // namespace dynatrain::vps
