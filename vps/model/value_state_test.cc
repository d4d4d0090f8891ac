#include "vps/model/value_state.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

using ::testing::ElementsAre;

TEST(ValueState, ListsWhatIsNoTensor) {
  EXPECT_THAT(
      ValueStates({.loss_scaler = true, .rng_streams = {"default", "expert"}}),
      ElementsAre(ValueState{"optimizer.step", ValueScope::kParameterGroup},
                  ValueState{"scheduler", ValueScope::kJob},
                  ValueState{"cursor", ValueScope::kJob},
                  ValueState{"rng.default", ValueScope::kCoordinate},
                  ValueState{"rng.expert", ValueScope::kCoordinate},
                  ValueState{"loss_scaler", ValueScope::kJob}));
}

}  // namespace
}  // namespace dynatrain::vps
