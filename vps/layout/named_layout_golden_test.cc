// Our shards against those of torch's DTensor: testdata/torch_shards.json, made
// by the script beside it.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/boxes.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::vps {
namespace {

using nlohmann::json;

json ReadVectors() {
  return json::parse(std::ifstream("vps/layout/testdata/torch_shards.json"));
}

Layout LayoutOf(const json& vector) {
  Sharding sharding;
  for (const json& split : vector["splits"]) {
    sharding.push_back({split["axis"], split["dim"]});
  }
  const std::vector<int64_t> shape = vector["shape"];
  return *MakeLayout(
      Mesh::Of(*AxisSizes::Parse(std::string(vector["sizes"]))),
      *Manifest::Create(
          {{*TensorSpec::Create("w", "param", Dtype::kFloat32, shape),
            sharding}}));
}

TEST(LayoutGolden, EqualsTorch) {
  const json vectors = ReadVectors();
  ASSERT_GT(vectors["cases"].size(), 200);
  int strided = 0;
  for (const json& vector : vectors["cases"]) {
    const Layout layout = LayoutOf(vector);
    ASSERT_EQ(vector["ranks"].size(), layout.world_size()) << vector;
    for (int rank = 0; rank < layout.world_size(); ++rank) {
      const std::vector<int64_t> shape = vector["ranks"][rank][0];
      const std::vector<int64_t> offset = vector["ranks"][rank][1];
      const Box box = LocalBox(layout, rank, 0);
      EXPECT_EQ(box.shape(), shape) << "rank " << rank << " of " << vector;
      if (!box.empty()) {
        EXPECT_EQ(box.origin(), offset) << "rank " << rank << " of " << vector;
      }
    }
    if (vector["by"] != "placements") continue;
    for (const std::string placement : vector["placements"]) {
      if (placement.starts_with("_S(")) ++strided;
    }
  }
  EXPECT_GT(strided, 40) << "the vectors hold too few _StridedShard";
}

}  // namespace
}  // namespace dynatrain::vps
