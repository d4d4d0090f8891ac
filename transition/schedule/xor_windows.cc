#include "transition/schedule/xor_windows.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/numeric/bits.h"

namespace dynatrain::transition {
namespace {

int PaddedIndex(int rank, int block_ranks) {
  return rank / block_ranks * PaddedBlock(block_ranks) + rank % block_ranks;
}

// Where a parcel stands in the schedule.
struct Placed {
  int window = 0;
  int64_t round = 0;  // within the window, from max_operations
  int64_t piece = 0;  // of the pair, within the round's turn
  int step = 0;
  Parcel parcel;

  std::tuple<int, int64_t, int64_t> group() const {
    return {window, round, piece};
  }
  friend bool operator<(const Placed& a, const Placed& b) {
    return std::tuple(a.group(), a.step, a.parcel) <
           std::tuple(b.group(), b.step, b.parcel);
  }
};

// A rank has two operations per step at most, so this many steps fit in a
// group.
int StepsPerGroup(const XorOptions& options) {
  return std::max(1, options.max_operations / 2);
}

Schedule Collect(std::vector<Placed> placed) {
  std::sort(placed.begin(), placed.end());
  Schedule schedule;
  schedule.parcels.reserve(placed.size());
  for (size_t i = 0; i < placed.size(); ++i) {
    if (i == 0 || placed[i].group() != placed[i - 1].group()) {
      schedule.window_begins.push_back(static_cast<int64_t>(i));
    }
    schedule.parcels.push_back(placed[i].parcel);
  }
  return schedule;
}

}  // namespace

int PaddedBlock(int block_ranks) {
  return static_cast<int>(absl::bit_ceil(static_cast<uint32_t>(block_ranks)));
}

int XorStep(int rank_a, int rank_b, int block_ranks) {
  return PaddedIndex(rank_a, block_ranks) ^ PaddedIndex(rank_b, block_ranks);
}

int XorWindow(int rank_a, int rank_b, int block_ranks) {
  // The padded block is a power of two, so blocks XOR as the indices do.
  return rank_a / block_ranks ^ rank_b / block_ranks;
}

Schedule XorSchedule(const Traffic& traffic, const XorOptions& options) {
  const int block = PaddedBlock(options.block_ranks);
  std::vector<Placed> placed;
  placed.reserve(traffic.flows().size());
  for (const Flow& flow : traffic.flows()) {
    Placed place;
    place.step = XorStep(flow.sender, flow.receiver, options.block_ranks);
    place.window = XorWindow(flow.sender, flow.receiver, options.block_ranks);
    place.round = place.step % block / StepsPerGroup(options);
    for (int64_t begin = 0; begin < flow.bytes;
         begin += options.max_pair_bytes) {
      place.parcel = {flow.sender, flow.receiver, begin,
                      std::min(options.max_pair_bytes, flow.bytes - begin)};
      placed.push_back(place);
      ++place.piece;
    }
  }
  return Collect(std::move(placed));
}

Schedule XorOrder(const Traffic& traffic, int block_ranks) {
  std::vector<Placed> placed;
  placed.reserve(traffic.flows().size());
  for (const Flow& flow : traffic.flows()) {
    placed.push_back({.step = XorStep(flow.sender, flow.receiver, block_ranks),
                      .parcel = {flow.sender, flow.receiver, 0, flow.bytes}});
  }
  Schedule schedule = Collect(std::move(placed));
  schedule.window_begins.clear();
  return schedule;
}

}  // namespace dynatrain::transition
