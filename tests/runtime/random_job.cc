#include "tests/runtime/random_job.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/manifest/json_codec.h"
#include "vps/layout/manifest.h"

namespace dynatrain::runtime {
namespace {

int64_t Draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

constexpr const char* kAxes[] = {"dp", "tp", "pp", "ep", "rep"};

}  // namespace

std::string RandomManifest(std::mt19937_64& random) {
  constexpr vps::Dtype kDtypes[] = {vps::Dtype::kFloat32, vps::Dtype::kBfloat16,
                                    vps::Dtype::kInt64, vps::Dtype::kBool,
                                    vps::Dtype::kComplex128};
  std::vector<vps::ManifestTensor> tensors;
  for (int64_t i = Draw(random, 1, 6); i > 0; --i) {
    std::vector<int64_t> shape;
    for (int64_t d = Draw(random, 0, 3); d > 0; --d) {
      shape.push_back(Draw(random, 1, 40));
    }
    if (!shape.empty() && Draw(random, 0, 3) == 0) shape[0] *= 150;
    vps::Sharding sharding;
    for (const char* axis : kAxes) {
      if (shape.empty() || Draw(random, 0, 1) == 0) continue;
      sharding.push_back(
          {axis, static_cast<int>(Draw(random, 0, std::ssize(shape) - 1))});
    }
    std::shuffle(sharding.begin(), sharding.end(), random);
    tensors.push_back(
        {vps::TensorSpec::Create(absl::StrCat("layers.", i, ".weight"),
                                 i % 2 == 0 ? "param" : "exp_avg",
                                 kDtypes[Draw(random, 0, 4)], shape)
             .value(),
         sharding});
  }
  return api::EncodeManifest(vps::Manifest::Create(std::move(tensors)).value());
}

TestWorld RandomWorld(uint64_t generation, int num_processes, int ranks_per_pod,
                      std::mt19937_64& random) {
  TestWorld world;
  world.generation = generation;
  int64_t size = 1;
  for (const char* axis : kAxes) {
    const int64_t n = Draw(random, 1, 3);
    const bool fits = size * n <= num_processes;
    absl::StrAppend(&world.layout, world.layout.empty() ? "" : ",", axis,
                    fits ? n : 1);
    if (fits) size *= n;
  }
  std::vector<int> processes(num_processes);
  std::iota(processes.begin(), processes.end(), 0);
  std::shuffle(processes.begin(), processes.end(), random);
  processes.resize(size);
  // Ranks of a pod stand together, as pods do in the order of a world.
  std::map<int, std::vector<int>> pods;
  std::vector<int> order;
  for (int process : processes) {
    std::vector<int>& pod = pods[process / ranks_per_pod];
    if (pod.empty()) order.push_back(process / ranks_per_pod);
    pod.push_back(process);
  }
  for (int pod : order) {
    for (int process : pods[pod]) {
      world.places.push_back({process, static_cast<uint32_t>(pod)});
    }
  }
  return world;
}

}  // namespace dynatrain::runtime
