#include "vps/layout/torch/job_lanes.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/layout/split_cuts.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Mesh& TheMesh() {
  static const Mesh mesh =
      *Mesh::Create({{"dp", 2}, {"cp", 2}, {"tp", 3}, {"wide", 300}});
  return mesh;
}

TorchTensor Tensor(std::vector<int64_t> shape, std::vector<Split> splits) {
  const int dims = static_cast<int>(shape.size());
  return {.name = "w",
          .shape = shape,
          .cuts = *CutsOfSplits(TheMesh(), dims, splits)};
}

absl::StatusOr<JobLanes> LanesOf(const TorchTensor& tensor) {
  return JobLanes::Create(TheMesh(), {tensor}, {0});
}

TEST(JobLanes, EvenTensorsHaveOneLane) {
  const TorchTensor even = Tensor({12, 6}, {{"tp", 0}, {"cp", 0}, {"dp", 1}});
  const JobLanes lanes = *LanesOf(even);
  EXPECT_THAT(lanes.axes(), IsEmpty());
  EXPECT_EQ(lanes.size(), 1);
  EXPECT_EQ(lanes.Elements(even, 0), 2 * 3);
}

// 5 rows over tp 3: 2, 2 and 1; columns over dp are even.
TEST(JobLanes, AnUnevenCutMakesALaneOfEachCoordinate) {
  const TorchTensor uneven = Tensor({5, 4}, {{"tp", 0}, {"dp", 1}});
  const JobLanes lanes = *LanesOf(uneven);
  EXPECT_THAT(lanes.axes(), ElementsAre(2));
  ASSERT_EQ(lanes.size(), 3);
  EXPECT_EQ(lanes.Elements(uneven, 0), 4);
  EXPECT_EQ(lanes.Elements(uneven, 1), 4);
  EXPECT_EQ(lanes.Elements(uneven, 2), 2);
}

// 11 rows over tp 3: 4, 4 and 3, which cp halves evenly but for the last.
TEST(JobLanes, ACutMayBeUnevenOfWhatAnotherLeftOnly) {
  const TorchTensor uneven = Tensor({11}, {{"tp", 0}, {"cp", 0}});
  const JobLanes lanes = *LanesOf(uneven);
  EXPECT_THAT(lanes.axes(), ElementsAre(1, 2));
  std::vector<int64_t> elements;
  for (int lane = 0; lane < lanes.size(); ++lane) {
    elements.push_back(lanes.Elements(uneven, lane));
  }
  EXPECT_THAT(elements, ElementsAre(2, 2, 2, 2, 2, 1));
}

TEST(JobLanes, RefusesNamingTheTensor) {
  const auto expect_refused = [](const TorchTensor& tensor, const char* why) {
    const absl::Status status = LanesOf(tensor).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  TorchTensor tensor = Tensor({301}, {{"wide", 0}});
  expect_refused(tensor,
                 "tensor w: ranks flatten local tensors of different sizes "
                 "over axes of 300 coordinates; at most 256");
  tensor = Tensor({4}, {{"tp", 0}});
  tensor.cuts[0].dim = 1;
  expect_refused(tensor,
                 "tensor w: cuts[0]: dim 1 is not one of the 1 of shape [4]");
  tensor.cuts[0].dim = 0;
  tensor.cuts[0].block_extents = {2, 2};
  expect_refused(tensor, "tensor w: cuts[0]: block_extents: PyTorch has none");
  tensor.cuts[0].group.axes = {4};
  expect_refused(tensor, "tensor w: cuts[0]: axis 4 is not one of the 4");
  tensor = Tensor({int64_t{1} << 62, 4}, {});
  expect_refused(tensor,
                 "tensor w: shape [4611686018427387904, 4] has more elements "
                 "than fit 63 bits");
}

}  // namespace
}  // namespace dynatrain::vps
