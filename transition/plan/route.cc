#include "transition/plan/route.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"

namespace dynatrain::transition {

std::string Route::DebugString(const PlanInput& input) const {
  const auto rank_text = [](int rank, int copy) {
    return copy == 0 ? absl::StrCat("rank ", rank)
                     : absl::StrCat("rank ", rank, " copy ", copy);
  };
  return absl::StrCat(input.tensor(tensor).Id(), " ", region.DebugString(),
                      " from ", rank_text(source_rank, source_copy), " to ",
                      rank_text(target_rank, target_copy));
}

int64_t NumBytes(const Route& route, const PlanInput& input) {
  return route.region.num_elements() * input.item_bytes(route.tensor);
}

uint64_t HashOf(const Route& route, const PlanInput& input) {
  return HashWithTensor(HashWithoutTensor(route, input), route.tensor);
}

uint64_t HashWithTensor(uint64_t hash_without_tensor, int tensor) {
  // The finalizer of SplitMix64 (Steele, Lea and Flood 2014): bijective, and
  // each bit of the input changes half of the output's.
  uint64_t z = hash_without_tensor +
               (static_cast<uint64_t>(tensor) + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t HashWithoutTensor(const Route& route, const PlanInput& input) {
  // On the stack, not through a Fingerprinter: this runs once per box.
  std::array<uint64_t, 3 + 2 * vps::kMaxDims> words = {};
  size_t size = 0;
  const auto append = [&](uint64_t word) { words[size++] = word; };
  append(input.source().process(route.source_rank).id);
  append(input.target().process(route.target_rank).id);
  append(static_cast<uint64_t>(route.source_copy) << 32 |
         static_cast<uint64_t>(route.target_copy));
  for (int dim = 0; dim < route.region.dims(); ++dim) {
    append(static_cast<uint64_t>(route.region.origin(dim)));
    append(static_cast<uint64_t>(route.region.extent(dim)));
  }
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                "peers compare hashes of words in memory order");
  return FingerprintOf(words.data(), size * sizeof(uint64_t)).low;
}

}  // namespace dynatrain::transition
