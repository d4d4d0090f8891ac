#include "vps/geometry/random_box.h"

#include <algorithm>
#include <utility>

namespace dynatrain::vps {
namespace {

// Also where the box is not: Box::With only narrows.
Box WithInterval(const Box& box, int dim, Interval interval) {
  std::vector<int64_t> origin(box.origin().begin(), box.origin().end());
  std::vector<int64_t> shape(box.shape().begin(), box.shape().end());
  origin[dim] = interval.begin;
  shape[dim] = interval.size();
  return *Box::Create(origin, shape);
}

// Of `box`: as of a space whose dim has `extent` only.
Box Clipped(const Box& box, int dim, int64_t extent) {
  const Interval old = box.interval(dim);
  return WithInterval(box, dim,
                      {std::min(old.begin, extent), std::min(old.end, extent)});
}

std::vector<Interval> Shorter(Interval interval) {
  std::vector<Interval> shorter;
  const int64_t size = interval.size();
  if (interval.begin > 0) shorter.push_back({0, size});
  if (size > 1) shorter.push_back({interval.begin, interval.begin + size / 2});
  if (size > 0) shorter.push_back({interval.begin, interval.end - 1});
  return shorter;
}

}  // namespace

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

BoxesCase RandomBoxes(std::vector<int64_t> shape, int boxes,
                      std::mt19937_64& random) {
  BoxesCase result = {std::move(shape), {}};
  for (int i = 0; i < boxes; ++i) {
    result.boxes.push_back(RandomBoxIn(result.space(), random));
  }
  return result;
}

BoxesCase WithoutDim(const BoxesCase& boxes_case, int dim) {
  BoxesCase without = {boxes_case.shape, {}};
  without.shape.erase(without.shape.begin() + dim);
  for (const Box& box : boxes_case.boxes) {
    std::vector<int64_t> origin(box.origin().begin(), box.origin().end());
    std::vector<int64_t> shape(box.shape().begin(), box.shape().end());
    origin.erase(origin.begin() + dim);
    shape.erase(shape.begin() + dim);
    without.boxes.push_back(*Box::Create(origin, shape));
  }
  return without;
}

std::vector<BoxesCase> WithLess(const BoxesCase& boxes_case) {
  std::vector<BoxesCase> smaller;
  for (size_t dim = 0; dim < boxes_case.shape.size(); ++dim) {
    const int64_t extent = boxes_case.shape[dim];
    for (const int64_t less : {extent / 2, extent - 1}) {
      if (less < 1) continue;
      BoxesCase& narrow = smaller.emplace_back(boxes_case);
      narrow.shape[dim] = less;
      for (Box& box : narrow.boxes) {
        box = Clipped(box, static_cast<int>(dim), less);
      }
    }
  }
  for (size_t i = 0; i < boxes_case.boxes.size(); ++i) {
    const Box& box = boxes_case.boxes[i];
    for (int dim = 0; dim < box.dims(); ++dim) {
      for (const Interval& interval : Shorter(box.interval(dim))) {
        smaller.emplace_back(boxes_case).boxes[i] =
            WithInterval(box, dim, interval);
      }
    }
  }
  return smaller;
}

std::vector<BoxesCase> SmallerBoxes(const BoxesCase& boxes_case) {
  std::vector<BoxesCase> smaller;
  for (size_t dim = 0; dim < boxes_case.shape.size(); ++dim) {
    smaller.push_back(WithoutDim(boxes_case, static_cast<int>(dim)));
  }
  for (BoxesCase& less : WithLess(boxes_case)) {
    smaller.push_back(std::move(less));
  }
  return smaller;
}

std::ostream& operator<<(std::ostream& out, const BoxesCase& boxes_case) {
  out << "in " << boxes_case.space();
  for (const Box& box : boxes_case.boxes) out << " " << box;
  return out;
}

}  // namespace dynatrain::vps
