// Shrink: a failing random case made small, so that a person can read it.
//
//   const auto fails = [](const Case& it) { return !WrongOf(it).empty(); };
//   if (fails(drawn)) {
//     const Case small = Shrink(drawn, SmallerCases, fails);
//     FAIL() << WrongOf(small) << "\n" << small;
//   }
#ifndef BASE_SHRINK_H_
#define BASE_SHRINK_H_

#include <utility>

namespace dynatrain {

// Of a case that fails: follows the first smaller case that fails too, until
// none does. `smaller(case)` lists cases that are a little smaller, the
// greatest steps first, each valid and such that no chain of them is endless;
// `fails(case)` tells whether one still fails. Deterministic if both are.
template <typename Case, typename Smaller, typename Fails>
Case Shrink(Case failing, const Smaller& smaller, const Fails& fails) {
  for (bool found = true; found;) {
    found = false;
    for (auto& candidate : smaller(std::as_const(failing))) {
      if (!fails(std::as_const(candidate))) continue;
      failing = std::move(candidate);
      found = true;
      break;
    }
  }
  return failing;
}

}  // namespace dynatrain

#endif  // BASE_SHRINK_H_
