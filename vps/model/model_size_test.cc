#include "vps/model/model_size.h"

#include <random>

#include "base/random_seed.h"
#include "base/shrink.h"
#include "gtest/gtest.h"
#include "vps/model/model_tensors.h"
#include "vps/model/presets.h"
#include "vps/model/random_config.h"

namespace dynatrain::vps {
namespace {

ModelSize Enumerated(const ModelConfig& config) {
  ModelSize size;
  for (const ModelTensor& tensor : TensorsOf(config)) {
    const int64_t elements = tensor.num_elements();
    if (!tensor.is_parameter()) {
      (tensor.mtp.has_value() ? size.mtp_buffers : size.main_buffers) +=
          elements;
      continue;
    }
    (tensor.mtp.has_value() ? size.mtp_parameters : size.main_parameters) +=
        elements;
    if (tensor.expert.has_value()) size.expert_parameters += elements;
  }
  return size;
}

TEST(ModelSize, EqualsTheSumOverTheTensorsOfAnyModel) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 3000; ++i) {
    const ModelConfig config = RandomConfig(random);
    if (SizeOf(config) == Enumerated(config)) continue;
    const ModelConfig small =
        Shrink(config, SmallerConfigs, [](const ModelConfig& smaller) {
          return !(SizeOf(smaller) == Enumerated(smaller));
        });
    FAIL() << SizeOf(small) << " is not " << Enumerated(small) << " of "
           << small.DebugString();
  }
}

TEST(ModelSize, EqualsTheSumOverTheTensorsOfEachPreset) {
  for (const absl::string_view name : PresetNames()) {
    const ModelConfig config = *Preset(name);
    EXPECT_EQ(SizeOf(config), Enumerated(config)) << name;
  }
}

}  // namespace
}  // namespace dynatrain::vps
