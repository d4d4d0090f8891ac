// Random layouts of a random model over a set of processes.
#ifndef TESTS_RUNTIME_RANDOM_JOB_H_
#define TESTS_RUNTIME_RANDOM_JOB_H_

#include <random>
#include <string>

#include "tests/runtime/job_testutil.h"

namespace dynatrain::runtime {

// JSON text of a manifest with a few tensors of all kinds: odd sizes, scalars,
// several dtypes, any splits; some larger than a ring.
std::string RandomManifest(std::mt19937_64& random);

// A layout of at most `num_processes` ranks, over processes chosen at random,
// in pods of 1 to 3 ranks: some links are shared memory, some TCP. Pods are the
// same for all worlds of one `ranks_per_pod`.
TestWorld RandomWorld(uint64_t generation, int num_processes, int ranks_per_pod,
                      std::mt19937_64& random);

}  // namespace dynatrain::runtime

#endif  // TESTS_RUNTIME_RANDOM_JOB_H_
