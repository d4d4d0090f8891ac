#include "api/layout_text/nearest_layouts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace dynatrain::api {
namespace {

using Feasible = absl::FunctionRef<bool(const LayoutText&)>;

struct Change {
  std::string axis;
  int64_t number = 1;
  double distance = 0;  // |log(number / what it was)|
};

bool Nearer(const Change& a, const Change& b) {
  return a.distance < b.distance;
}

// Axes that a person would change: those that were given, and etp where experts
// are, since it follows tp unless it is given.
std::vector<std::string> AxesOf(const LayoutText& text) {
  std::vector<std::string> axes;
  for (const char* axis : {"tp", "pp", "ep", "cp", "dp", "vpp", "instances"}) {
    if (text.Get(axis).has_value()) axes.push_back(axis);
  }
  if (text.Get("ep").has_value() || text.Get("etp").has_value()) {
    axes.push_back("etp");
  }
  return axes;
}

// What the layout has, given or not: etp is as tp.
int64_t NumberOf(const LayoutText& text, const std::string& axis) {
  return text.Get(axis).value_or(axis == "etp" ? NumberOf(text, "tp") : 1);
}

// Other numbers for an axis, the nearest first.
std::vector<Change> ChangesOf(const LayoutText& text, const std::string& axis) {
  constexpr int64_t kSteps = 48;  // from it, in each direction
  const int64_t was = NumberOf(text, axis);
  std::vector<Change> changes;
  for (int64_t number = std::max<int64_t>(was - kSteps, 1);
       number <= was + kSteps; ++number) {
    if (number == was) continue;
    changes.push_back({axis, number,
                       std::abs(std::log(static_cast<double>(number) /
                                         static_cast<double>(was)))});
  }
  std::stable_sort(changes.begin(), changes.end(), Nearer);
  return changes;
}

// The nearest change of the axis to more, and to less, that will do.
std::vector<Change> Helpful(const LayoutText& text, const std::string& axis,
                            Feasible feasible) {
  std::vector<Change> helpful;
  const std::vector<Change> changes = ChangesOf(text, axis);
  const int64_t was = NumberOf(text, axis);
  for (const bool more : {true, false}) {
    const auto it =
        std::find_if(changes.begin(), changes.end(), [&](const Change& it) {
          return (it.number > was) == more &&
                 feasible(text.With(axis, it.number));
        });
    if (it != changes.end()) helpful.push_back(*it);
  }
  std::stable_sort(helpful.begin(), helpful.end(), Nearer);
  return helpful;
}

std::vector<LayoutText> OneAxis(const LayoutText& text, Feasible feasible) {
  std::vector<Change> best;
  for (const std::string& axis : AxesOf(text)) {
    std::vector<Change> helpful = Helpful(text, axis, feasible);
    if (helpful.empty()) continue;
    if (best.empty() || Nearer(helpful[0], best[0])) best = std::move(helpful);
  }
  std::vector<LayoutText> layouts;
  for (const Change& change : best) {
    layouts.push_back(text.With(change.axis, change.number));
  }
  return layouts;
}

// Stages at the ends that are about as long as the others: up to `steps` layers
// more or less.
std::optional<LayoutText> Uneven(const LayoutText& text, int64_t layers,
                                 int64_t steps, Feasible feasible) {
  const int64_t stages = text.Get("pp").value_or(1);
  if (stages < 2 || text.Get("first").has_value() ||
      text.Get("last").has_value()) {
    return std::nullopt;
  }
  const int64_t mean = layers / stages;
  for (int64_t step = 0; step <= std::min(mean, steps); ++step) {
    for (const int64_t count : {mean - step, mean + step}) {
      if (count < 1) continue;
      for (const LayoutText& tried :
           {text.With("first", count).With("last", count),
            text.With("last", count), text.With("first", count)}) {
        if (feasible(tried)) return tried;
      }
    }
  }
  return std::nullopt;
}

// Numbers of an axis that are tried with other changes.
constexpr size_t kNearest = 10;

std::vector<Change> NearestOf(const LayoutText& text, const std::string& axis) {
  std::vector<Change> changes = ChangesOf(text, axis);
  changes.resize(std::min(changes.size(), kNearest));
  return changes;
}

std::optional<LayoutText> TwoAxes(const LayoutText& text, Feasible feasible) {
  struct Pair {
    Change a, b;
    double distance() const { return a.distance + b.distance; }
  };
  std::vector<Pair> pairs;
  const std::vector<std::string> axes = AxesOf(text);
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::vector<Change> first = NearestOf(text, axes[i]);
    for (size_t j = i + 1; j < axes.size(); ++j) {
      const std::vector<Change> second = NearestOf(text, axes[j]);
      for (const Change& a : first) {
        for (const Change& b : second) pairs.push_back({a, b});
      }
    }
  }
  std::stable_sort(
      pairs.begin(), pairs.end(),
      [](const Pair& a, const Pair& b) { return a.distance() < b.distance(); });
  for (const Pair& pair : pairs) {
    LayoutText tried =
        text.With(pair.a.axis, pair.a.number).With(pair.b.axis, pair.b.number);
    if (feasible(tried)) return tried;
  }
  return std::nullopt;
}

std::optional<LayoutText> UnevenWithOneAxis(const LayoutText& text,
                                            int64_t layers, Feasible feasible) {
  constexpr int64_t kSteps = 6;
  std::vector<Change> changes;
  for (const std::string& axis : AxesOf(text)) {
    for (Change& it : NearestOf(text, axis)) changes.push_back(std::move(it));
  }
  std::stable_sort(changes.begin(), changes.end(), Nearer);
  for (const Change& it : changes) {
    auto tried =
        Uneven(text.With(it.axis, it.number), layers, kSteps, feasible);
    if (tried.has_value()) return tried;
  }
  return std::nullopt;
}

}  // namespace

std::vector<LayoutText> NearestLayouts(const LayoutText& text, int64_t layers,
                                       Feasible feasible) {
  constexpr int64_t kSteps = 64;
  std::vector<LayoutText> layouts;
  if (auto uneven = Uneven(text, layers, kSteps, feasible)) {
    layouts.push_back(*std::move(uneven));
  }
  for (LayoutText& other : OneAxis(text, feasible)) {
    layouts.push_back(std::move(other));
  }
  if (layouts.empty()) {
    if (auto other = TwoAxes(text, feasible)) {
      layouts.push_back(*std::move(other));
    }
  }
  if (layouts.empty()) {
    if (auto other = UnevenWithOneAxis(text, layers, feasible)) {
      layouts.push_back(*std::move(other));
    }
  }
  return layouts;
}

}  // namespace dynatrain::api
