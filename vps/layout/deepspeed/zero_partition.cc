#include "vps/layout/deepspeed/zero_partition.h"

namespace dynatrain::vps {

std::vector<int> RoundRobinOrder(int count, int ranks) {
  std::vector<int> order;
  for (int first = 0; first < ranks && first < count; ++first) {
    for (int64_t index = first; index < count; index += ranks) {
      order.push_back(static_cast<int>(index));
    }
  }
  return order;
}

absl::StatusOr<FlatRun> LayZeroGroup(absl::Span<const int64_t> elements,
                                     int64_t parameter_alignment,
                                     int64_t ranks) {
  return LayEndToEnd(elements, parameter_alignment, kZeroAlignment * ranks,
                     ranks);
}

int64_t ZeroShard(int64_t elements, int64_t ranks) {
  return elements / ranks + (elements % ranks != 0 ? 1 : 0);
}

std::vector<int> ZeroSubGroups(absl::Span<const int64_t> shards,
                               int64_t sub_group_size) {
  std::vector<int> sub_groups;
  int current = 0;
  int64_t size = 0;
  for (int64_t shard : shards) {
    sub_groups.push_back(current);
    // No overflow: below sub_group_size before, and a shard fits 63 bits, so
    // compare without the sum.
    if (shard >= sub_group_size - size) {
      ++current;
      size = 0;
    } else {
      size += shard;
    }
  }
  return sub_groups;
}

}  // namespace dynatrain::vps
