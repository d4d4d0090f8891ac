// The seed of a property test: DYNATRAIN_TEST_SEED if it is set, else a new one
// each run. It is printed, so that a failure can be run again:
//   bazel test //vps/... --test_env=DYNATRAIN_TEST_SEED=1234
#ifndef BASE_RANDOM_SEED_H_
#define BASE_RANDOM_SEED_H_

#include <cstdint>
#include <random>

namespace dynatrain {

// The same for the whole process. Dies if DYNATRAIN_TEST_SEED is no number.
uint64_t TestSeed();

// A generator that depends on the seed and on `stream` only; give each test its
// own stream, so that it draws the same when it runs alone.
std::mt19937_64 TestRandom(uint64_t stream = 0);

}  // namespace dynatrain

#endif  // BASE_RANDOM_SEED_H_
