#include "vps/model/tensor_spec.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

TEST(TensorSpec, SaysWhatItIs) {
  const TensorSpec spec =
      *TensorSpec::Create("mlp.weight", "exp_avg", Dtype::kBfloat16, {3, 4});
  EXPECT_EQ(spec.Id(), "mlp.weight/exp_avg");
  EXPECT_EQ(spec.DebugString(), "mlp.weight/exp_avg bfloat16 [3, 4]");
  EXPECT_EQ(spec.num_bytes(), 24);
}

TEST(TensorSpec, OfAScalarHasOneElementAndOfAnEmptyShapeNone) {
  EXPECT_EQ(TensorSpec::Create("a", "step", Dtype::kFloat32, {})->num_bytes(),
            4);
  EXPECT_EQ(
      TensorSpec::Create("a", "buffer", Dtype::kFloat32, {0, 5})->num_bytes(),
      0);
}

TEST(TensorSpec, KnowsWherePaddingBegins) {
  const auto padded = [](std::vector<int64_t> shape, int64_t from) {
    return TensorSpec::Create("e", "param", Dtype::kFloat32, shape, from);
  };
  EXPECT_EQ(padded({8, 3}, 5)->pad_from(), 5);
  EXPECT_EQ(padded({8, 3}, 8)->pad_from(), 8);
  EXPECT_EQ(padded({8, 3}, 5)->DebugString(),
            "e/param float32 [8, 3] padded from 5");
  EXPECT_NE(*padded({8, 3}, 5), *padded({8, 3}, 6));
  EXPECT_EQ(TensorSpec::Create("e", "param", Dtype::kFloat32, {8})->pad_from(),
            std::nullopt);
  EXPECT_THAT(std::string(padded({8, 3}, 9).status().message()),
              HasSubstr("e/param: pad_from is 9; it lies in 0..8"));
  EXPECT_THAT(std::string(padded({}, 0).status().message()),
              HasSubstr("pad_from is 0; a scalar has no rows"));
}

struct Refused {
  std::string name, state;
  std::vector<int64_t> shape;
  const char* why;
};

TEST(TensorSpec, RefusesNamingTheField) {
  const int64_t huge = std::numeric_limits<int64_t>::max() / 2;
  const Refused table[] = {
      {"", "param", {}, "name is empty"},
      {"a", "", {}, "tensor \"a\": state is empty"},
      {std::string(2000, 'x'), "param", {}, "2000 bytes; at most 1024"},
      {"a\n", "param", {}, "\"a\\n\" holds a control character"},
      {"a", "param", {3, -1}, "tensor a/param: shape: box: dim 1"},
      {"a", "param", {huge, 4}, "more elements than fit"},
      {"a", "param", {huge}, "more bytes than fit 63 bits"},
      {"a", "param", {1, 1, 1, 1, 1, 1, 1, 1, 1}, "9 dims; at most 8"},
  };
  for (const Refused& row : table) {
    const auto spec =
        TensorSpec::Create(row.name, row.state, Dtype::kFloat32, row.shape);
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(spec.status().message()), HasSubstr(row.why));
  }
}

}  // namespace
}  // namespace dynatrain::vps
