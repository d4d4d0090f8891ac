// Against Megatron-Core 0.16.1: testdata/megatron_tensors.json holds names,
// shapes and order of what it builds on one rank, of 60 random transformers and
// 30 random hybrids (generate_megatron_tensors.py).
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "api/json/reader.h"
#include "api/model/plain_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/model_tensors.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;

Json Rows() {
  std::ifstream file("api/model/testdata/megatron_tensors.json");
  std::stringstream text;
  text << file.rdbuf();
  return *ParseJson(text.str());
}

// ["decoder.final_layernorm.weight",[8],"parameter"], one line per tensor.
std::vector<std::string> Ours(const vps::ModelConfig& config) {
  std::vector<std::string> lines;
  for (const vps::ModelTensor& tensor : vps::TensorsOf(config)) {
    const std::vector<int64_t> shape(tensor.shape.begin(), tensor.shape.end());
    lines.push_back(DumpJson(
        {tensor.name, shape, tensor.is_parameter() ? "parameter" : "buffer"}));
  }
  return lines;
}

std::vector<std::string> Theirs(const Json& tensors) {
  std::vector<std::string> lines;
  for (const Json& tensor : tensors) lines.push_back(DumpJson(tensor));
  return lines;
}

TEST(MegatronOracle, DeclaresTheSameTensorsInTheSameOrder) {
  const Json rows = Rows();
  ASSERT_EQ(rows.size(), 60 + 30);
  for (const Json& row : rows) {
    SCOPED_TRACE(DumpJson(row["model"]));
    const auto config = ReadPlainModel(row["model"], "model");
    ASSERT_TRUE(config.ok()) << config.status();
    ASSERT_EQ(Ours(*config), Theirs(row["tensors"]));
  }
}

}  // namespace
}  // namespace dynatrain::api
