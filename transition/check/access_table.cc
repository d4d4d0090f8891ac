#include "transition/check/access_table.h"

namespace dynatrain::transition {
namespace {

void Add(const Operation& it, const When& when,
         std::map<int, TensorAccesses>& tensors) {
  for (const Piece& piece : it.pieces) {
    TensorAccesses& tensor = tensors[piece.tensor];
    const Access access = {when, piece.region};
    switch (it.kind) {
      case OperationKind::kAllocate:
        tensor.allocates.push_back(access);
        break;
      case OperationKind::kFree:
        tensor.frees.push_back(access);
        break;
      case OperationKind::kAdopt:
        tensor.adopts.push_back(access);
        break;
      case OperationKind::kCopy:
        tensor.source_reads.push_back(access);
        tensor.writes.push_back(access);
        break;
      case OperationKind::kSend:
        (it.space == Space::kSource ? tensor.source_reads : tensor.target_reads)
            .push_back(access);
        break;
      case OperationKind::kReceive:
        tensor.writes.push_back(access);
        break;
      default:
        break;
    }
  }
}

}  // namespace

std::map<int, TensorAccesses> AccessesOf(const Program& program) {
  struct Lane {
    int unit = 0;
    bool in_group = false;
  };
  std::map<int, TensorAccesses> tensors;
  std::map<int, Lane> lanes;
  int epoch = 0;
  for (int i = 0; i < static_cast<int>(program.operations.size()); ++i) {
    const Operation& it = program.operations[i];
    Lane& lane = lanes[it.lane];
    if (it.kind == OperationKind::kJoin) ++epoch;
    if (it.kind == OperationKind::kGroupBegin) lane.in_group = true;
    if (it.kind == OperationKind::kGroupEnd) lane.in_group = false;
    Add(it, {i, it.lane, lane.unit, epoch}, tensors);
    if (!lane.in_group) ++lane.unit;
  }
  return tensors;
}

}  // namespace dynatrain::transition
