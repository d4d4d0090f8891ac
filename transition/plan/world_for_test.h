// Worlds in one line, for tests.
#ifndef TRANSITION_PLAN_WORLD_FOR_TEST_H_
#define TRANSITION_PLAN_WORLD_FOR_TEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transition/plan/world.h"
#include "vps/layout/manifest.h"

namespace dynatrain::transition {

// A float32 parameter.
vps::ManifestTensor TensorForTest(std::string name, std::vector<int64_t> shape,
                                  vps::Sharding sharding);

// A world of that layout text; the member of a process is its id / 10, so ids
// 10..19 live together.
World WorldForTest(absl::string_view sizes, const vps::Manifest& manifest,
                   const std::vector<uint64_t>& process_ids);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_WORLD_FOR_TEST_H_
