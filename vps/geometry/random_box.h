// Small random boxes and their elements, for tests that enumerate; and smaller
// ones, for base/shrink.h.
#ifndef VPS_GEOMETRY_RANDOM_BOX_H_
#define VPS_GEOMETRY_RANDOM_BOX_H_

#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

#include "vps/geometry/box.h"

namespace dynatrain::vps {

using Index = std::vector<int64_t>;

// Within `outer`; empty about once in ten times per dim.
Box RandomBoxIn(const Box& outer, std::mt19937_64& random);

// Its elements in row-major order; one of no entries for a scalar.
std::vector<Index> ElementsOf(const Box& box);

// Boxes in one space, which begins at 0.
struct BoxesCase {
  std::vector<int64_t> shape;  // of the space
  std::vector<Box> boxes;

  Box space() const { return *Box::Whole(shape); }
};

BoxesCase RandomBoxes(std::vector<int64_t> shape, int boxes,
                      std::mt19937_64& random);

// In all its boxes too. REQUIRES: dim < shape.size().
BoxesCase WithoutDim(const BoxesCase& boxes_case, int dim);

// Every case of as many dims that is one step smaller: an extent of the space
// is halved or one less, with what that leaves of the boxes; or an interval of
// a box begins at 0, is halved or one shorter.
std::vector<BoxesCase> WithLess(const BoxesCase& boxes_case);

// Both: first those without a dim.
std::vector<BoxesCase> SmallerBoxes(const BoxesCase& boxes_case);

std::ostream& operator<<(std::ostream& out, const BoxesCase& boxes_case);

}  // namespace dynatrain::vps

#endif  // VPS_GEOMETRY_RANDOM_BOX_H_
