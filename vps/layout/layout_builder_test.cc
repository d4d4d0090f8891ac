#include "vps/layout/layout_builder.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

// A layout of one tensor "w" [8, 4] over (dp 2, tp 3), and one thing wrong.
struct Parts {
  std::vector<Mesh> meshes = {*Mesh::Create({{"dp", 2}, {"tp", 3}})};
  Placement placement;
  std::vector<int64_t> shape = {8, 4};
  std::vector<Held> copies = {{}};
  int tensor_of_copies = 0;
  int num_tensors = 1;
};

absl::Status Build(const Parts& parts) {
  LayoutBuilder builder;
  for (const Mesh& mesh : parts.meshes) builder.AddMesh(mesh);
  builder.AddBuffer("params");
  builder.AddPlacement(parts.placement);
  for (int i = 0; i < parts.num_tensors; ++i) {
    builder.AddTensor(
        *TensorSpec::Create("w", "param", Dtype::kFloat32, parts.shape));
  }
  for (const Held& held : parts.copies) {
    builder.AddCopy(parts.tensor_of_copies, held);
  }
  return std::move(builder).Build().status();
}

TEST(LayoutBuilder, BuildsWhatIsRight) {
  EXPECT_TRUE(Build({}).ok());
  EXPECT_TRUE(Build({.placement = {.located_by = {1}},
                     .copies = {{.at = {0}}, {.at = {2}}}})
                  .ok());
}

TEST(LayoutBuilder, RefusesNamingTensorAndField) {
  const Flat flat = {{{0}}};
  const std::pair<Parts, const char*> table[] = {
      {{.meshes = {}}, "there is no mesh"},
      {{.meshes = {*Mesh::Create({{"a", 2}}), *Mesh::Create({{"b", 3}})}},
       "mesh b3 has 3 ranks, mesh a2 has 2; all cover the same ranks"},
      {{.placement = {.mesh = 1}}, "placement 0: mesh 1 is not one of the 1"},
      {{.placement = {.located_by = {2}}},
       "placement 0: located_by: axis 2 is not one of the 2 of mesh dp2,tp3"},
      {{.placement = {.located_by = {0}, .cuts = {{{{0}}}}}},
       "placement 0: cuts[0]: axis \"dp\" is used twice in one placement"},
      {{.placement = {.cuts = {{}}}}, "cuts[0]: the axis group has no axis"},
      {{.placement = {.cuts = {{.group = {{0, 1}, 4}}}}},
       "cuts[0]: pieces is 4; it divides the 6 ranks of the axis group"},
      {{.placement = {.cuts = {{.group = {{0}, -1}}}}}, "pieces is -1"},
      {{.placement = {.cuts = {{.group = {{0}}, .dim = -1}}}},
       "cuts[0]: dim -1 is not in 0..7"},
      {{.placement = {.cuts = {{.group = {{0}}, .dim = 64}}}},
       "cuts[0]: dim 64 is not in 0..7"},
      {{.placement = {.cuts = {{.group = {{0}}, .dim = 2}}}},
       "tensor w/param copy 0: cuts[0]: dim 2 is not one of the 2 of shape "
       "[8, 4]"},
      {{.placement = {.cuts = {{.group = {{0}}, .num_blocks = 0}}}},
       "0 blocks; their number lies in 1..4096"},
      {{.placement = {.cuts = {{.group = {{0}}, .block_extents = {4, 3}}}}},
       "block_extents sum up to 7, dim 0 has 8"},
      {{.placement = {.cuts = {{.group = {{0}},
                                .block_extents = {kHuge, kHuge}}}}},
       "block_extents sum up to more than fits 63 bits, dim 0 has 8"},
      {{.placement = {.cuts = {{.group = {{0}}, .block_extents = {9, -1}}}}},
       "block_extents holds -1"},
      {{.placement = {.cuts = {{.group = {{0}}},
                               {.group = {{1}}, .block_extents = {4}}}}},
       "cuts[1]: block_extents of a cut of dim 0 that is cut before"},
      {{.placement = {.cuts = {{.group = {{0}},
                                .num_blocks = 2,
                                .block_extents = {4, 4}}}}},
       "num_blocks and block_extents are both given"},
      {{.copies = {}}, "tensor w/param has no copy"},
      {{.tensor_of_copies = 1}, "a copy is of tensor 1; there are 1"},
      {{.num_tensors = 2}, "tensor w/param is there twice"},
      {{.copies = {{.placement = 1}}},
       "tensor w/param copy 0: placement 1 is not one of the 1"},
      {{.placement = {.located_by = {1}}},
       "at has 0 coordinates, the placement is located by 1 axes"},
      {{.placement = {.located_by = {1}}, .copies = {{.at = {0}}, {.at = {3}}}},
       "copy 1: at: coordinate 3 on axis \"tp\" is not in 0..2"},
      {{.copies = {{.flat = {0, 4}}}}, "flat is given, but the placement"},
      {{.placement = {.flat = flat}}, "position 0 and shard 0; at least 0 and"},
      {{.placement = {.flat = flat}, .copies = {{.flat = {1, 16}}}},
       "32 elements from position 1 end at 33, beyond the run of 2 shards of "
       "16"},
      {{.placement = {.flat = flat}, .copies = {{.flat = {kHuge, 16}}}},
       "does not fit 63 bits"},
      {{.placement = {.flat = flat}, .copies = {{.flat = {0, kHuge}}}},
       "does not fit 63 bits"},
      {{.copies = {{.storage = {1, 0}}}}, "buffer 1 is not one of the 1"},
      {{.copies = {{.storage = {0, -1}}}}, "storage: offset -1"},
      {{.copies = {{.storage = {Storage::kOwnTensor, 3}}}},
       "storage: offset 3; 0 or more in a buffer, 0 in the tensor's own"},
      {{.placement = {.flat = flat, .lanes = {1}}},
       "placement 0: lanes: axis \"tp\" is not one of a cut of which all"},
      {{.placement = {.cuts = {{.group = {{1}, 3}}},
                      .flat = flat,
                      .lanes = {1}}},
       "placement 0: lanes: axis \"tp\" is not one of a cut of which all"},
      {{.placement = {.cuts = {{.group = {{0, 1}}}},
                      .flat = Flat{},
                      .lanes = {1}}},
       "flat: the axis group has no axis"},
      {{.placement = {.lanes = {0, 0}}}, "lanes: axis \"dp\" is used twice"},
      {{.placement = {.lanes = {0}}},
       "there are 0 lanes; the axes have 2 coordinates"},
      {{.copies = {{.lanes = {{}}}}},
       "lanes are given, but the placement has none"},
      {{.placement = {.lanes = {0}},
        .copies = {{.storage = {0, 1}, .lanes = {{}, {}}}}},
       "flat or storage is given, but the placement has lanes"},
      {{.placement = {.lanes = {0}},
        .copies = {{.lanes = {{}, {.storage = {0, -1}}}}}},
       "lanes[1]: storage: offset -1"},
      // 8 rows over tp 3: 3, 3 and 2, of 4.
      {{.placement = {.cuts = {{.group = {{1}}}}, .flat = flat, .lanes = {1}},
        .copies = {{.lanes = {{.flat = {0, 6}},
                              {.flat = {1, 6}},
                              {.flat = {4, 6}}}}}},
       "lanes[1]: flat: 12 elements from position 1 end at 13, beyond the run "
       "of 2 shards of 6"},
      // 7 rows over a 2: 4 and 3. Over tp 3 the last has none of 4 (2, 2 and
      // 0), and one of 3.
      {{.meshes = {*Mesh::Create({{"dp", 2}, {"tp", 3}, {"a", 2}})},
        .placement = {.cuts = {{.group = {{2}}}, {.group = {{1}}}},
                      .flat = flat,
                      .lanes = {1}},
        .shape = {7, 4},
        .copies = {{.lanes = {{.flat = {0, 4}},
                              {.flat = {0, 4}},
                              {.flat = {5, 4}}}}}},
       "lanes[2]: flat: 4 elements from position 5 end at 9, beyond the run of "
       "2 shards of 4"},
  };
  for (const auto& [parts, why] : table) {
    const absl::Status status = Build(parts);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << why;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }
}

TEST(LayoutBuilder, GivesEqualPlacementsOneIndex) {
  LayoutBuilder builder;
  EXPECT_EQ(builder.AddPlacement({}), 0);
  EXPECT_EQ(builder.AddPlacement({.located_by = {0}}), 1);
  EXPECT_EQ(builder.AddPlacement({}), 0);
}

}  // namespace
}  // namespace dynatrain::vps
