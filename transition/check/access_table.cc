#include "transition/check/access_table.h"

namespace dynatrain::transition {
namespace {

// Adds operations to a table.
class Adder {
 public:
  Adder(const Operation& operation, const When& when, AccessTable& table)
      : it_(operation), when_(when), table_(table) {}

  void Add() {
    if (it_.kind == OperationKind::kReserve) {
      table_.buffers[it_.buffer].reserves.push_back({when_, it_.bytes});
    } else if (it_.kind == OperationKind::kRelease) {
      table_.buffers[it_.buffer].releases.push_back({when_, it_.bytes});
    }
    for (const Piece& piece : it_.pieces) AddPiece(piece);
  }

 private:
  void AddPiece(const Piece& piece) {
    const Access access = {when_, piece.region};
    switch (it_.kind) {
      case OperationKind::kAllocate:
        return Of(piece).allocates.push_back(access);
      case OperationKind::kFree:
        return Of(piece).frees.push_back(access);
      case OperationKind::kAdopt:
        return Of(piece).adopts.push_back(access);
      case OperationKind::kZero:
        return Of(piece).zeros.push_back(access);
      case OperationKind::kCopy:
        Read({piece.tensor, piece.region, it_.source_copy});
        return Write(piece);
      case OperationKind::kSend:
        return Read(piece);
      case OperationKind::kReceive:
        return Write(piece);
      default:
        return;
    }
  }

  void Read(const Piece& piece) {
    switch (it_.space) {
      case Space::kSource:
        return Of(piece).source_reads.push_back({when_, piece.region});
      case Space::kTarget:
        return Of(piece).target_reads.push_back({when_, piece.region});
      case Space::kStaging:
        return table_.buffers[it_.buffer].reads.push_back({when_, piece});
    }
  }

  void Write(const Piece& piece) {
    if (it_.into == Space::kStaging) {
      table_.buffers[it_.buffer].writes.push_back({when_, piece});
    } else {
      Of(piece).writes.push_back({when_, piece.region});
    }
  }

  TensorAccesses& Of(const Piece& piece) {
    return table_.tensors[{piece.tensor, piece.copy}];
  }

  const Operation& it_;
  const When& when_;
  AccessTable& table_;
};

}  // namespace

AccessTable AccessesOf(const Program& program) {
  struct Lane {
    int unit = 0;
    bool in_group = false;
  };
  AccessTable table;
  std::map<int, Lane> lanes;
  int epoch = 0;
  for (int i = 0; i < static_cast<int>(program.operations.size()); ++i) {
    const Operation& it = program.operations[i];
    Lane& lane = lanes[it.lane];
    if (it.kind == OperationKind::kJoin) ++epoch;
    if (it.kind == OperationKind::kGroupBegin) lane.in_group = true;
    if (it.kind == OperationKind::kGroupEnd) lane.in_group = false;
    Adder(it, {i, it.lane, lane.unit, epoch}, table).Add();
    if (!lane.in_group) ++lane.unit;
  }
  return table;
}

}  // namespace dynatrain::transition
