// NearestLayouts: for a layout that isn't possible, what is and is like it.
#ifndef API_LAYOUT_TEXT_NEAREST_LAYOUTS_H_
#define API_LAYOUT_TEXT_NEAREST_LAYOUTS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "api/layout_text/layout_text.h"

namespace dynatrain::api {

// Layouts that `feasible` accepts, the nearest first, at most three: the same
// with uneven first and last stages (94 layers on 8 stages: first11,last11);
// then with another number for one axis, the nearest above and below of the
// axis that has to change least (as a ratio). If none of these is possible, one
// with two axes changed, or else with one axis and uneven stages. Empty if
// nothing near is. `layers` are the model's. Asks less than eight thousand
// times.
std::vector<LayoutText> NearestLayouts(
    const LayoutText& text, int64_t layers,
    absl::FunctionRef<bool(const LayoutText&)> feasible);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_TEXT_NEAREST_LAYOUTS_H_
