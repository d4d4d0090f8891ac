#include "tools/simulate/assumptions.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::simulate {
namespace {

using ::testing::HasSubstr;

TEST(AssumptionsTest, EachIsSetByItsName) {
  Assumptions assumptions;
  ASSERT_TRUE(
      Assume("init_s=1.5,overlap=0,storage_gb_per_s=2,tflops=989", assumptions)
          .ok());
  EXPECT_EQ(assumptions.simulation.init_ns, 1'500'000'000);
  EXPECT_FALSE(assumptions.simulation.overlap);
  EXPECT_EQ(assumptions.simulation.site.storage_bytes_per_second,
            2'000'000'000);
  EXPECT_DOUBLE_EQ(assumptions.step.flops_per_second, 989e12);
}

TEST(AssumptionsTest, WhatIsListedCanBeSet) {
  Assumptions assumptions;
  for (const Assumption& it : Listed(assumptions)) {
    Assumptions again;
    ASSERT_TRUE(
        Assume(absl::StrFormat("%s=%.17g", it.name, it.value), again).ok())
        << it.name;
    EXPECT_EQ(again, assumptions) << it.name;
  }
}

TEST(AssumptionsTest, WhatIsWrongIsNamedAndNothingIsSet) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "no assumption"},
      {"int_s=1", "did you mean init_s?"},
      {"init_s", "init_s: \"\" is no number"},
      {"init_s=x", "init_s: \"x\""},
      {"init_s=-1", "init_s: \"-1\""},
      {"init_s=1e300", "init_s: \"1e300\""},
      {"init_s=nan", "init_s: \"nan\""},
      {"init_s=1,init_s=2", "init_s is there twice"},
      {"efficiency=0", "efficiency"},
      {"efficiency=1.5", "efficiency"},
      {"storage_gb_per_s=0", "storage_gb_per_s"},
      {"detect_s=5,copy_gb_per_s=0", "copy"},
  };
  for (const auto& [text, message] : wrong) {
    Assumptions assumptions;
    const absl::Status status = Assume(text, assumptions);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(status.message(), HasSubstr(message)) << text;
    EXPECT_EQ(assumptions, Assumptions()) << text;
  }
}

}  // namespace
}  // namespace dynatrain::simulate
