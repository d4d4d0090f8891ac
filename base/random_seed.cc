#include "base/random_seed.h"

#include <cstdlib>
#include <iostream>
#include <random>

#include "absl/strings/numbers.h"

namespace dynatrain {
namespace {

uint64_t ReadSeed() {
  uint64_t seed = 0;
  if (const char* text = std::getenv("DYNATRAIN_TEST_SEED");
      text != nullptr && *text != '\0') {
    if (!absl::SimpleAtoi(text, &seed)) {
      std::cerr << "DYNATRAIN_TEST_SEED=" << text
                << " is no number in 0..2^64-1\n";
      std::abort();
    }
  } else {
    std::random_device device;
    seed = device();  // 32 bits: short enough to be typed
  }
  std::cerr << "DYNATRAIN_TEST_SEED=" << seed << "\n";
  return seed;
}

}  // namespace

uint64_t TestSeed() {
  static const uint64_t kSeed = ReadSeed();
  return kSeed;
}

std::mt19937_64 TestRandom(uint64_t stream) {
  const uint64_t seed = TestSeed();
  std::seed_seq words{seed, seed >> 32, stream, stream >> 32};
  return std::mt19937_64(words);
}

}  // namespace dynatrain
