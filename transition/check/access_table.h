// AccessTable: what a program does to each tensor and to each buffer, with the
// order in which it is sure to do it.
#ifndef TRANSITION_CHECK_ACCESS_TABLE_H_
#define TRANSITION_CHECK_ACCESS_TABLE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "transition/program/program.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// When an operation happens, as far as the program says.
struct When {
  int operation = 0;
  int lane = 0;
  int unit = 0;   // place in the lane; equal within a group
  int epoch = 0;  // joins before it

  // Sure to have ended when `later` begins.
  bool Before(const When& later) const {
    return epoch < later.epoch || (lane == later.lane && unit < later.unit);
  }
};

struct Access {
  When when;
  vps::Box region;
};

// Of one copy of a tensor. Copies of the same number are other memory in the
// source world than in the target world.
struct TensorAccesses {
  std::vector<Access> source_reads;  // kSend, kCopy
  std::vector<Access> target_reads;  // kSend, kCopy
  std::vector<Access> frees;
  std::vector<Access> adopts;
  std::vector<Access> allocates;
  std::vector<Access> writes;  // kReceive, kCopy
  std::vector<Access> zeros;
};

using TensorCopy = std::pair<int, int>;

// Of one buffer of staging memory.
struct BufferAccesses {
  struct Span {
    When when;
    int64_t bytes = 0;
  };
  struct Part {
    When when;
    Piece piece;
  };
  std::vector<Span> reserves;
  std::vector<Span> releases;
  std::vector<Part> reads;
  std::vector<Part> writes;
};

// Only what the program touches.
struct AccessTable {
  std::map<TensorCopy, TensorAccesses> tensors;
  std::map<int, BufferAccesses> buffers;
};

AccessTable AccessesOf(const Program& program);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_ACCESS_TABLE_H_
