#include "transition/device/element_digest.h"

#include <algorithm>
#include <cstring>

// The attributes that ask for wide vectors are gcc's; what clang builds, for
// its checks, sums the portable way.
#if defined(__x86_64__) && !defined(__clang__)
#define DYNATRAIN_WIDE_SUMS 1
#else
#define DYNATRAIN_WIDE_SUMS 0
#endif

namespace dynatrain::transition {
namespace {

constexpr uint64_t kIndexFactor = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio

// SplitMix64's finalizer: a bijection that spreads each bit over all others.
inline uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Elements at one stride whose indices follow each other at `key_step`. Inlined
// into functions that are compiled for several instruction sets, with constant
// strides where it counts, so that the compiler vectorizes it.
template <typename Word>
__attribute__((always_inline)) inline uint64_t SumRow(const std::byte* p,
                                                      int64_t stride_bytes,
                                                      uint64_t key,
                                                      uint64_t key_step,
                                                      int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    memcpy(&word, p + i * stride_bytes, sizeof(word));
    sum += Mix(word + (key + static_cast<uint64_t>(i) * key_step));
  }
  return sum;
}

struct Row {
  const std::byte* p;
  int64_t stride_bytes;
  int64_t index;
  int64_t index_stride;
  int64_t count;
};

template <typename Word>
__attribute__((always_inline)) inline uint64_t SumWords(const Row& row,
                                                        uint64_t seed) {
  const uint64_t key = seed + static_cast<uint64_t>(row.index) * kIndexFactor;
  if (row.index_stride == 1 && row.stride_bytes == sizeof(Word)) {
    return SumRow<Word>(row.p, sizeof(Word), key, kIndexFactor, row.count);
  }
  return SumRow<Word>(row.p, row.stride_bytes, key,
                      kIndexFactor * static_cast<uint64_t>(row.index_stride),
                      row.count);
}

// An element of 16 bytes is two words at indices 2i and 2i + 1.
__attribute__((always_inline)) inline uint64_t SumPairs(const Row& row,
                                                        uint64_t seed) {
  if (row.index_stride == 1 && row.stride_bytes == 16) {
    return SumWords<uint64_t>({row.p, 8, row.index * 2, 1, row.count * 2},
                              seed);
  }
  Row half = {row.p, row.stride_bytes, row.index * 2, row.index_stride * 2,
              row.count};
  const uint64_t low = SumWords<uint64_t>(half, seed);
  half.p += 8;
  half.index += 1;
  return low + SumWords<uint64_t>(half, seed);
}

__attribute__((always_inline)) inline uint64_t SumItems(const Row& row,
                                                        int64_t item_bytes,
                                                        uint64_t seed) {
  switch (item_bytes) {
    case 1:
      return SumWords<uint8_t>(row, seed);
    case 2:
      return SumWords<uint16_t>(row, seed);
    case 4:
      return SumWords<uint32_t>(row, seed);
    case 8:
      return SumWords<uint64_t>(row, seed);
    default:
      return SumPairs(row, seed);
  }
}

using SumFunction = uint64_t (*)(const Row&, int64_t item_bytes, uint64_t seed);

uint64_t SumPortable(const Row& row, int64_t item_bytes, uint64_t seed) {
  return SumItems(row, item_bytes, seed);
}

#if DYNATRAIN_WIDE_SUMS
// -O3 in the attribute: -O2 of gcc 12 vectorizes only loops of known count.
__attribute__((target("avx2"), optimize("O3"))) uint64_t SumAvx2(
    const Row& row, int64_t item_bytes, uint64_t seed) {
  return SumItems(row, item_bytes, seed);
}

__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,"
                      "prefer-vector-width=512"),
               optimize("O3"))) uint64_t
SumAvx512(const Row& row, int64_t item_bytes, uint64_t seed) {
  return SumItems(row, item_bytes, seed);
}
#endif

// Chosen by the processor at run time, not by an ifunc: those are resolved
// before a sanitizer's runtime is ready.
SumFunction ChooseSum() {
#if DYNATRAIN_WIDE_SUMS
  if (__builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return SumAvx512;
  }
  if (__builtin_cpu_supports("avx2")) return SumAvx2;
#endif
  return SumPortable;
}

}  // namespace

void ElementDigest::AddLoop(Loop loop) {
  if (loop.count == 1) return;
  if (!loops_.empty()) {
    Loop& outer = loops_.back();
    if (outer.index_stride == loop.index_stride * loop.count &&
        outer.stride_bytes == loop.stride_bytes * loop.count) {
      outer = {outer.count * loop.count, loop.index_stride, loop.stride_bytes};
      return;
    }
  }
  loops_.push_back(loop);
}

ElementDigest ElementDigest::Create(const vps::Box& region,
                                    absl::Span<const int64_t> global_shape,
                                    absl::Span<const int64_t> strides_bytes,
                                    int64_t item_bytes, uint64_t seed) {
  ElementDigest digest;
  digest.item_bytes_ = item_bytes;
  digest.seed_ = seed;
  digest.num_elements_ = region.num_elements();
  absl::InlinedVector<int64_t, 8> index_strides(region.dims(), 1);
  for (int d = region.dims() - 2; d >= 0; --d) {
    index_strides[d] = index_strides[d + 1] * global_shape[d + 1];
  }
  for (int d = 0; d < region.dims(); ++d) {
    digest.first_index_ += region.origin(d) * index_strides[d];
    digest.AddLoop({region.extent(d), index_strides[d], strides_bytes[d]});
  }
  return digest;
}

uint64_t ElementDigest::Sum(const std::byte* first, int64_t begin,
                            int64_t count) const {
  static const SumFunction sum_row = ChooseSum();
  if (count == 0) return 0;
  const Loop inner = loops_.empty() ? Loop{1, 1, item_bytes_} : loops_.back();
  uint64_t sum = 0;
  while (count > 0) {
    int64_t row = begin / inner.count;
    const int64_t in_row = begin % inner.count;
    Row part = {first + in_row * inner.stride_bytes, inner.stride_bytes,
                first_index_ + in_row * inner.index_stride, inner.index_stride,
                std::min(inner.count - in_row, count)};
    for (int i = static_cast<int>(loops_.size()) - 2; i >= 0; --i) {
      const int64_t at = row % loops_[i].count;
      row /= loops_[i].count;
      part.p += at * loops_[i].stride_bytes;
      part.index += at * loops_[i].index_stride;
    }
    sum += sum_row(part, item_bytes_, seed_);
    begin += part.count;
    count -= part.count;
  }
  return sum;
}

}  // namespace dynatrain::transition
