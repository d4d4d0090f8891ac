#include "transition/plan/world_for_test.h"

#include <utility>

#include "vps/layout/axis_sizes.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::transition {

vps::ManifestTensor TensorForTest(std::string name, std::vector<int64_t> shape,
                                  vps::Sharding sharding) {
  return {*vps::TensorSpec::Create(std::move(name), "param",
                                   vps::Dtype::kFloat32, shape),
          std::move(sharding)};
}

World WorldForTest(absl::string_view sizes, const vps::Manifest& manifest,
                   const std::vector<uint64_t>& process_ids) {
  std::vector<Process> processes;
  for (uint64_t id : process_ids) {
    processes.push_back({id, static_cast<uint32_t>(id / 10)});
  }
  return *World::Create(
      *vps::MakeLayout(vps::Mesh::Of(*vps::AxisSizes::Parse(sizes)), manifest),
      std::move(processes));
}

}  // namespace dynatrain::transition
