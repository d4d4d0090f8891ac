#include "vps/layout/megatron/version.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MegatronVersion, IsFoundByItsName) {
  EXPECT_EQ(*FindMegatronVersion("0.16.1"), MegatronVersion());
  EXPECT_EQ(FindMegatronVersion("0.20.0")->mtp_transformer_layer,
            "mtp_model_layer");
  EXPECT_THAT(MegatronVersionNames(), ElementsAre("0.16.1", "0.20.0"));
}

TEST(MegatronVersion, RefusesAnUnknownOneWithThoseKnown) {
  EXPECT_THAT(std::string(FindMegatronVersion("0.9").status().message()),
              HasSubstr("\"0.9\" of Megatron-Core is not known; these are: "
                        "0.16.1, 0.20.0"));
}

}  // namespace
}  // namespace dynatrain::vps::megatron
