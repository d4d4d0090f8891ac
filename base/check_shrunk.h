// CheckShrunk: a check of a random case, written as EXPECTs. If it fails, the
// case is made small first (shrink.h), and the failure is that of the small
// one.
//
//   CheckShrunk(RandomCase(random), SmallerCases, [](const Case& it) {
//     EXPECT_EQ(Fast(it), BruteForce(it));
//   });
#ifndef BASE_CHECK_SHRUNK_H_
#define BASE_CHECK_SHRUNK_H_

#include "base/shrink.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace dynatrain {

// `smaller` as of Shrink. `check(case)` EXPECTs and ASSERTs, on this thread.
// The failure says which case it is of, as gtest prints it.
template <typename Case, typename Smaller, typename Check>
void CheckShrunk(const Case& drawn, const Smaller& smaller,
                 const Check& check) {
  const auto fails = [&](const Case& it) {
    testing::TestPartResultArray results;
    {
      testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::
              INTERCEPT_ONLY_CURRENT_THREAD,
          &results);
      check(it);
    }
    for (int i = 0; i < results.size(); ++i) {
      if (results.GetTestPartResult(i).failed()) return true;
    }
    return false;
  };
  if (!fails(drawn)) return;
  const Case small = Shrink(drawn, smaller, fails);
  SCOPED_TRACE("the smallest case that fails: " +
               testing::PrintToString(small));
  check(small);
}

}  // namespace dynatrain

#endif  // BASE_CHECK_SHRUNK_H_
