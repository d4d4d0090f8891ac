// AccessTable: what a program does to each tensor, with the order in which it
// is sure to do it.
#ifndef TRANSITION_CHECK_ACCESS_TABLE_H_
#define TRANSITION_CHECK_ACCESS_TABLE_H_

#include <map>
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

struct TensorAccesses {
  std::vector<Access> source_reads;  // kSend from the source world, kCopy
  std::vector<Access> target_reads;  // kSend from the target world
  std::vector<Access> frees;
  std::vector<Access> adopts;
  std::vector<Access> allocates;
  std::vector<Access> writes;  // kReceive, kCopy
};

// By tensor; only those that the program touches.
std::map<int, TensorAccesses> AccessesOf(const Program& program);

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_ACCESS_TABLE_H_
