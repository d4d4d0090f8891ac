#include "vps/geometry/random_box.h"

namespace dynatrain::vps {

Box RandomBoxIn(const Box& outer, std::mt19937_64& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Box box = outer;
  for (int dim = 0; dim < outer.dims(); ++dim) {
    const Interval whole = outer.interval(dim);
    const int64_t begin = pick(whole.begin, whole.end);
    const int64_t end = pick(0, 9) == 0 ? begin : pick(begin, whole.end);
    box = box.With(dim, {begin, end});
  }
  return box;
}

std::vector<Index> ElementsOf(const Box& box) {
  std::vector<Index> elements = {{}};
  for (int dim = 0; dim < box.dims(); ++dim) {
    std::vector<Index> longer;
    for (const Index& prefix : elements) {
      for (int64_t i = box.origin(dim); i < box.interval(dim).end; ++i) {
        longer.push_back(prefix);
        longer.back().push_back(i);
      }
    }
    elements = std::move(longer);
  }
  return elements;
}

}  // namespace dynatrain::vps
