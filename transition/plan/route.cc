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
  return route.region.num_elements() * input.tensor(route.tensor).item_bytes();
}

uint64_t HashOf(const Route& route, const PlanInput& input) {
  // On the stack, not through a Fingerprinter: this runs once per route.
  std::array<uint64_t, 4 + 2 * vps::kMaxDims> words = {};
  size_t size = 0;
  const auto append = [&](uint64_t word) { words[size++] = word; };
  append(static_cast<uint64_t>(route.tensor));
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
