#include "operator/solver/layouts.h"

#include <array>
#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

namespace dynatrain::control {
namespace {

using vps::AxisSizes;

constexpr size_t kAxes = 5;

std::vector<int> Divisors(int number) {
  std::vector<int> low;
  std::vector<int> high;
  for (int d = 1; int64_t{d} * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d != number / d) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// Whether the model can be cut so.
bool Fits(const api::ModelFacts& model, const AxisSizes& layout) {
  return model.heads % layout.tp() == 0 && model.experts % layout.ep() == 0 &&
         (model.layers == 0 || layout.pp() <= model.layers);
}

class Enumeration {
 public:
  Enumeration(int world_size, const api::Parallelism& constraints,
              const std::function<bool(const AxisSizes&)>& visit)
      : model_(constraints.model),
        ranges_{constraints.tp, constraints.pp, constraints.ep, constraints.rep,
                constraints.dp},
        divisors_(Divisors(world_size)),
        visit_(visit) {}

  // Gives `rest` to the axes from `axis` on. False if the visitor had enough.
  bool Visit(size_t axis, int rest) {
    if (axis == kAxes - 1) {
      if (!ranges_[axis].Contains(rest)) return true;
      sizes_[axis] = rest;
      const AxisSizes sizes = Sizes();
      return !Fits(model_, sizes) || visit_(sizes);
    }
    for (const int size : divisors_) {
      if (size > rest || size > ranges_[axis].max) break;
      if (size < ranges_[axis].min || rest % size != 0) continue;
      sizes_[axis] = size;
      if (!Visit(axis + 1, rest / size)) return false;
    }
    return true;
  }

 private:
  AxisSizes Sizes() const {
    return *AxisSizes::Create({.dp = sizes_[4],
                               .tp = sizes_[0],
                               .pp = sizes_[1],
                               .ep = sizes_[2],
                               .rep = sizes_[3]});
  }

  const api::ModelFacts model_;
  const std::array<api::AxisRange, kAxes> ranges_;
  const std::vector<int> divisors_;
  const std::function<bool(const AxisSizes&)>& visit_;
  std::array<int, kAxes> sizes_{};
};

}  // namespace

void ForEachLayout(int world_size, const api::Parallelism& constraints,
                   const std::function<bool(const AxisSizes&)>& visit) {
  if (world_size < 1 || world_size > vps::kMaxWorldSize) return;
  Enumeration(world_size, constraints, visit).Visit(0, world_size);
}

bool HasLayout(int world_size, const api::Parallelism& constraints) {
  bool found = false;
  ForEachLayout(world_size, constraints, [&](const AxisSizes&) {
    found = true;
    return false;
  });
  return found;
}

bool Permits(const api::Parallelism& constraints, const AxisSizes& layout) {
  return constraints.dp.Contains(layout.dp()) &&
         constraints.tp.Contains(layout.tp()) &&
         constraints.pp.Contains(layout.pp()) &&
         constraints.ep.Contains(layout.ep()) &&
         constraints.rep.Contains(layout.rep()) &&
         Fits(constraints.model, layout);
}

}  // namespace dynatrain::control
