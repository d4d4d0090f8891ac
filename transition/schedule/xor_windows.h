// The XOR schedule: in step s rank i exchanges with rank i ^ s, if there is
// one. It needs no global knowledge (each rank walks its own peers by ascending
// step) and can't deadlock for any number of ranks, since a pair has one step
// and both ends count upwards. It is the default; a list schedule is better
// where loads are skewed.
//
// Windows: steps are cut at multiples of a block of k = 2^m ranks. In window w
// block B talks with block B ^ w alone, so a window is a closed exchange
// between two blocks. With the ranks of a node as a block, window 0 is the
// exchange inside nodes and window w that between nodes n and n ^ w: the
// hierarchy for free. Ranks of a node are padded to a power of two, so nodes of
// 6 are fine.
//
// A window is cut further, at the same pieces on both ends of each pair, where
// a rank would have more operations or a pair more bytes than a group may have.
#ifndef TRANSITION_SCHEDULE_XOR_WINDOWS_H_
#define TRANSITION_SCHEDULE_XOR_WINDOWS_H_

#include <cstdint>

#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct XorOptions {
  // Ranks [0, n), [n, 2n), ... are a block; 1 makes plain steps.
  int block_ranks = 8;
  // Of one rank in one window; at least 2.
  int max_operations = 256;
  // Of one pair in one direction in one window; at least 1.
  int64_t max_pair_bytes = int64_t{256} << 20;

  friend bool operator==(const XorOptions&, const XorOptions&) = default;
};

// The power of two from block_ranks on. REQUIRES: block_ranks >= 1.
int PaddedBlock(int block_ranks);

// The step at which two ranks meet, with blocks padded to a power of two.
// Symmetric, and for a given rank different for each peer.
int XorStep(int rank_a, int rank_b, int block_ranks);

// The window in which that step is: XorStep / PaddedBlock.
int XorWindow(int rank_a, int rank_b, int block_ranks);

// Windowed, with at most max_operations per rank and window.
// REQUIRES: options in range.
Schedule XorSchedule(const Traffic& traffic, const XorOptions& options);

// Not cut: parcels are whole flows in order of their steps, to be followed with
// credits.
Schedule XorOrder(const Traffic& traffic, int block_ranks);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_XOR_WINDOWS_H_
