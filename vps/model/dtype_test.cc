#include "vps/model/dtype.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::HasSubstr;

TEST(Dtype, NamesAreTorchs) {
  for (int i = 0; i <= static_cast<int>(Dtype::kComplex128); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(*ParseDtype(DtypeName(dtype)), dtype);
    EXPECT_GT(ItemBytes(dtype), 0);
  }
  EXPECT_EQ(*ParseDtype("bfloat16"), Dtype::kBfloat16);
  EXPECT_EQ(ItemBytes(Dtype::kBfloat16), 2);
  EXPECT_EQ(ItemBytes(Dtype::kFloat8E4m3fn), 1);
  EXPECT_EQ(ItemBytes(Dtype::kComplex128), 16);
}

TEST(Dtype, RefusesUnknownNamesAndListsTheKnown) {
  for (const char* name : {"", "torch.float32", "Float32", "float"}) {
    const auto dtype = ParseDtype(name);
    EXPECT_EQ(dtype.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(dtype.status().message()),
                HasSubstr("known are float32, float64"));
  }
}

}  // namespace
}  // namespace dynatrain::vps
