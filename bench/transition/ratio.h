// Measuring as a ratio to a reference that runs before and after each sample,
// so that a machine whose speed drifts doesn't change the result.
#ifndef BENCH_TRANSITION_RATIO_H_
#define BENCH_TRANSITION_RATIO_H_

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dynatrain::bench {

struct Candidate {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};
  std::vector<double> ratios = {};  // of its time to the reference's
};

inline double Seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Runs each candidate `rounds` times between two runs of the reference, after
// one round to warm up, and prints its rate over `bytes` and its time in
// references: median, and the smallest and largest.
inline void Compare(const char* reference_name,
                    const std::function<void()>& reference,
                    std::vector<Candidate> candidates, size_t bytes,
                    int rounds = 7) {
  std::vector<double> references;
  for (int round = 0; round <= rounds; ++round) {
    for (Candidate& c : candidates) {
      const double before = Seconds(reference);
      const double taken = Seconds(c.run);
      const double after = Seconds(reference);
      if (round == 0) continue;
      references.push_back((before + after) / 2);
      c.seconds.push_back(taken);
      c.ratios.push_back(taken / references.back());
    }
  }
  printf("%-58s %7.2f GB/s\n", reference_name,
         bytes / Median(references) / 1e9);
  for (const Candidate& c : candidates) {
    const auto [low, high] =
        std::minmax_element(c.ratios.begin(), c.ratios.end());
    printf("%-58s %7.2f GB/s  %5.2f x reference [%.2f .. %.2f]\n",
           c.name.c_str(), bytes / Median(c.seconds) / 1e9, Median(c.ratios),
           *low, *high);
  }
}

// Warm memory on large pages.
inline std::byte* Allocate(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 1, bytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace dynatrain::bench

#endif  // BENCH_TRANSITION_RATIO_H_
