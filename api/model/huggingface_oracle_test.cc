// Against Hugging Face's transformers: testdata/huggingface_sizes.json holds
// what it builds from the public configs and from random small ones
// (generate_huggingface_sizes.py).
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "api/json/reader.h"
#include "api/model/huggingface_config.h"
#include "gtest/gtest.h"
#include "vps/model/model_size.h"
#include "vps/model/model_tensors.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;

Json Rows() {
  std::ifstream file("api/model/testdata/huggingface_sizes.json");
  std::stringstream text;
  text << file.rdbuf();
  return *ParseJson(text.str());
}

std::vector<int64_t> LayerSizes(const vps::ModelConfig& config) {
  std::vector<int64_t> sizes(config->layers);
  for (const vps::ModelTensor& tensor : vps::TensorsOf(config)) {
    if (tensor.layer.has_value() && tensor.is_parameter()) {
      sizes[*tensor.layer] += tensor.num_elements();
    }
  }
  return sizes;
}

TEST(HuggingFaceOracle, BuildsModelsOfTheSameSizeLayerByLayer) {
  const Json rows = Rows();
  ASSERT_EQ(rows.size(), 12 + 9 * 12);
  for (const Json& row : rows) {
    SCOPED_TRACE(DumpJson(row["config"]));
    const auto config = ReadHuggingFaceConfig(row["config"], "config");
    ASSERT_TRUE(config.ok()) << config.status();
    const vps::ModelSize size = vps::SizeOf(*config);
    EXPECT_EQ(size.main_parameters, row["parameters"].get<int64_t>());
    EXPECT_EQ(size.main_buffers, row["buffers"].get<int64_t>());
    EXPECT_EQ(LayerSizes(*config), row["layers"].get<std::vector<int64_t>>());
  }
}

}  // namespace
}  // namespace dynatrain::api
