// Small random boxes and their elements, for tests that enumerate.
#ifndef VPS_GEOMETRY_RANDOM_BOX_H_
#define VPS_GEOMETRY_RANDOM_BOX_H_

#include <cstdint>
#include <random>
#include <vector>

#include "vps/geometry/box.h"

namespace dynatrain::vps {

using Index = std::vector<int64_t>;

// Within `outer`; empty about once in ten times per dim.
Box RandomBoxIn(const Box& outer, std::mt19937_64& random);

// Its elements in row-major order; one of no entries for a scalar.
std::vector<Index> ElementsOf(const Box& box);

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_RANDOM_BOX_H_
