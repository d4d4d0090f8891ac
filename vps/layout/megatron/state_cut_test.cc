#include "vps/layout/megatron/state_cut.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TensorCut kRows = {.axis = TensorAxis::kTensor, .dim = 0};
constexpr TensorCut kColumns = {.axis = TensorAxis::kTensor, .dim = 1};

ModelTensor Tensor(int64_t rows, int64_t columns,
                   absl::InlinedVector<int64_t, 5> blocks) {
  return {.name = "weight", .shape = {rows, columns}, .blocks = blocks};
}

TEST(StateCut, HasABlockForEachStackedPart) {
  const StateClass param = OrdinaryState("param", Dtype::kFloat32);
  const Cut plain = **CutOfState(Tensor(8, 4, {8}), kRows, param, 3, 2);
  EXPECT_EQ(plain, (Cut{.group = {.axes = {3}}, .dim = 0}));
  const Cut gated = **CutOfState(Tensor(8, 4, {4, 4}), kRows, param, 3, 2);
  EXPECT_EQ(gated.num_blocks, 2);
  EXPECT_THAT(gated.block_extents, IsEmpty());
  const Cut mamba = **CutOfState(Tensor(12, 4, {6, 4, 2}), kRows, param, 3, 2);
  EXPECT_THAT(mamba.block_extents, ElementsAre(6, 4, 2));
  const Cut columns = **CutOfState(Tensor(8, 4, {4, 4}), kColumns, param, 3, 2);
  EXPECT_EQ(columns, (Cut{.group = {.axes = {3}}, .dim = 1}));
}

TEST(StateCut, IsNoneForWhatIsWholeEverywhere) {
  const ModelTensor tensor = Tensor(8, 4, {8});
  const StateClass param = OrdinaryState("param", Dtype::kFloat32);
  EXPECT_EQ(*CutOfState(tensor, {}, param, 3, 2), std::nullopt);
  EXPECT_EQ(*CutOfState(tensor, kRows, param, 3, 1), std::nullopt);
  const StateClass scale = {.name = "scale_inv",
                            .granularity = Granularity::PerTensor()};
  EXPECT_EQ(*CutOfState(tensor, kRows, scale, 3, 2), std::nullopt);
}

TEST(StateCut, CountsTheBlocksOfAScaleAndCutsThroughNone) {
  const StateClass scale = {.name = "scale_inv",
                            .granularity = Granularity::PerBlock(4, 2)};
  const Cut cut = **CutOfState(Tensor(24, 4, {16, 8}), kRows, scale, 3, 2);
  EXPECT_THAT(cut.block_extents, ElementsAre(4, 2));
  const auto through = CutOfState(Tensor(20, 4, {20}), kRows, scale, 3, 2);
  EXPECT_THAT(std::string(through.status().message()),
              HasSubstr("weight: 20 cut in 2 pieces would cut through blocks "
                        "of 4 of scale_inv:float32; multiples of 8 would not"));
  EXPECT_TRUE(CutOfState(Tensor(20, 4, {20}), kColumns, scale, 3, 2).ok());
}

}  // namespace
}  // namespace dynatrain::vps::megatron
