#include <memory>
#include <utility>
#include <vector>

#include "tools/simulate/checkpoint_strategy.h"
#include "tools/simulate/dynatrain_strategy.h"
#include "tools/simulate/elastic_megatron_strategy.h"
#include "tools/simulate/hotspa_strategy.h"
#include "tools/simulate/strategy.h"
#include "tools/simulate/tenplex_strategy.h"

namespace dynatrain::simulate {

std::vector<std::unique_ptr<Strategy>> AllStrategies() {
  using Weights = DynaTrainStrategy::Weights;
  using Optimizer = TenplexStrategy::Optimizer;
  std::vector<std::unique_ptr<Strategy>> all;
  all.push_back(std::make_unique<DynaTrainStrategy>(Weights::kMoved));
  all.push_back(std::make_unique<DynaTrainStrategy>(Weights::kCast));
  all.push_back(std::make_unique<CheckpointStrategy>());
  all.push_back(std::make_unique<TenplexStrategy>(Optimizer::kReplicated));
  all.push_back(std::make_unique<TenplexStrategy>(Optimizer::kSharded));
  all.push_back(std::make_unique<HotSpaStrategy>());
  all.push_back(std::make_unique<ElasticMegatronStrategy>());
  return all;
}

}  // namespace dynatrain::simulate
