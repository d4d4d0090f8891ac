#include "vps/layout/manifest.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

ManifestTensor Tensor(std::string name, std::string state,
                      std::vector<int64_t> shape, Sharding sharding = {},
                      Dtype dtype = Dtype::kFloat32) {
  return {*TensorSpec::Create(std::move(name), std::move(state), dtype, shape),
          std::move(sharding)};
}

Manifest Make(std::vector<ManifestTensor> tensors) {
  return *Manifest::Create(std::move(tensors));
}

TEST(Manifest, IsSortedByNameAndState) {
  const Manifest manifest =
      Make({Tensor("b", "param", {2}), Tensor("a", "step", {}),
            Tensor("a", "param", {3})});
  ASSERT_EQ(manifest.size(), 3);
  EXPECT_EQ(manifest.tensor(0).spec.Id(), "a/param");
  EXPECT_EQ(manifest.tensor(1).spec.Id(), "a/step");
  EXPECT_EQ(manifest.Find("b", "param"), 2);
  EXPECT_EQ(manifest.Find("b", "step"), std::nullopt);
  EXPECT_EQ(manifest.Find("c", "param"), std::nullopt);
  EXPECT_EQ(manifest.num_bytes(), 4 * (2 + 1 + 3));
}

TEST(Manifest, RefusesDuplicatesBadShardingsAndTooManyBytes) {
  const auto huge = std::numeric_limits<int64_t>::max() / 4;
  const std::pair<std::vector<ManifestTensor>, const char*> table[] = {
      {{Tensor("a", "param", {2}), Tensor("a", "param", {3})},
       "tensor a/param is there twice"},
      {{Tensor("a", "param", {2}, {{"tp", 1}})},
       "tensor a/param: splits[0]: dim 1"},
      {{Tensor("a", "param", {huge}), Tensor("b", "param", {huge})},
       "up to tensor b/param there are more bytes than fit 63 bits"},
  };
  for (const auto& [tensors, why] : table) {
    const auto manifest = Manifest::Create(tensors);
    EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(manifest.status().message()), HasSubstr(why));
  }
}

TEST(Manifest, DigestIgnoresTheGivenOrderAndSeesEveryField) {
  const Manifest base =
      Make({Tensor("a", "param", {2, 3}, {{"tp", 0}, {"dp", 0}}),
            Tensor("b", "param", {4})});
  EXPECT_EQ(Make({base.tensor(1), base.tensor(0)}).digest(), base.digest());
  const ManifestTensor others[] = {
      Tensor("a2", "param", {2, 3}, {{"tp", 0}, {"dp", 0}}),
      Tensor("a", "exp_avg", {2, 3}, {{"tp", 0}, {"dp", 0}}),
      Tensor("a", "param", {3, 2}, {{"tp", 0}, {"dp", 0}}),
      Tensor("a", "param", {2, 3, 1}, {{"tp", 0}, {"dp", 0}}),
      Tensor("a", "param", {2, 3}, {{"dp", 0}, {"tp", 0}}),
      Tensor("a", "param", {2, 3}, {{"tp", 1}, {"dp", 0}}),
      Tensor("a", "param", {2, 3}, {{"tp", 0}}),
      Tensor("a", "param", {2, 3}, {{"tp", 0}, {"dp", 0}}, Dtype::kInt32),
  };
  for (const ManifestTensor& other : others) {
    const Manifest changed = Make({other, base.tensor(1)});
    EXPECT_NE(changed.digest(), base.digest()) << other;
    EXPECT_NE(changed, base);
  }
}

// A digest that changes between versions would make every running job's
// generations disagree with a new agent's.
TEST(Manifest, DigestIsTheSameForEver) {
  EXPECT_EQ(Manifest().digest().Hex(), "d89de04d0e72b6387f921126a1a79111");
  EXPECT_EQ(Make({Tensor("a", "param", {2, 3}, {{"tp", 0}, {"dp", 0}}),
                  Tensor("a", "step", {})})
                .digest()
                .Hex(),
            "c62e33a74aafec6f98b86a1cd258baab");
}

TEST(Difference, OfEqualManifestsIsEmpty) {
  const Manifest manifest = Make({Tensor("a", "param", {2})});
  EXPECT_EQ(Difference(manifest, Make({Tensor("a", "param", {2})})), "");
}

TEST(Difference, NamesTensorsAndFields) {
  const Manifest expected =
      Make({Tensor("a", "param", {2, 3}, {{"tp", 0}}),
            Tensor("b", "param", {4}), Tensor("d", "param", {1})});
  const Manifest actual = Make(
      {Tensor("a", "param", {2, 4}, {{"tp", 0}, {"dp", 1}}, Dtype::kBfloat16),
       Tensor("c", "param", {4}), Tensor("d", "param", {1})});
  EXPECT_EQ(Difference(expected, actual),
            "a/param: shape [2, 3] in expected, [2, 4] in actual; dtype "
            "float32 in expected, bfloat16 in actual; splits tp:0 in expected, "
            "tp:0 dp:1 in actual\n"
            "only in expected: b/param float32 [4] replicated\n"
            "only in actual: c/param float32 [4] replicated");
}

TEST(Difference, StopsAfterSomeLinesAndSaysHowManyMore) {
  std::vector<ManifestTensor> tensors;
  for (char c = 'a'; c < 'k'; ++c) {
    tensors.push_back(Tensor(std::string(1, c), "param", {1}));
  }
  EXPECT_EQ(Difference(Make(tensors), Manifest(), 2),
            "only in expected: a/param float32 [1] replicated\n"
            "only in expected: b/param float32 [1] replicated\n"
            "and 8 more tensors");
}

}  // namespace
}  // namespace dynatrain::vps
