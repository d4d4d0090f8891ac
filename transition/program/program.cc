#include "transition/program/program.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {

const char* SpaceName(Space space) {
  switch (space) {
    case Space::kSource:
      return "source";
    case Space::kTarget:
      return "target";
    case Space::kStaging:
      return "staging";
  }
  return "unknown";
}

const char* OperationName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kAllocate:
      return "allocate";
    case OperationKind::kFree:
      return "free";
    case OperationKind::kReserve:
      return "reserve";
    case OperationKind::kRelease:
      return "release";
    case OperationKind::kAdopt:
      return "adopt";
    case OperationKind::kCopy:
      return "copy";
    case OperationKind::kZero:
      return "zero";
    case OperationKind::kSend:
      return "send";
    case OperationKind::kReceive:
      return "receive";
    case OperationKind::kJoin:
      return "join";
    case OperationKind::kGroupBegin:
      return "group begin";
    case OperationKind::kGroupEnd:
      return "group end";
  }
  return "unknown";
}

std::string Operation::DebugString() const {
  std::string text = OperationName(kind);
  if (bytes != 0) absl::StrAppend(&text, " ", bytes, " B");
  if (kind == OperationKind::kSend) absl::StrAppend(&text, " to rank ", peer);
  if (kind == OperationKind::kReceive) {
    absl::StrAppend(&text, " from rank ", peer);
  }
  if (space != Space::kSource) {
    absl::StrAppend(&text, " out of ", SpaceName(space));
  }
  if (into != Space::kTarget) absl::StrAppend(&text, " into ", SpaceName(into));
  if (source_copy != 0) absl::StrAppend(&text, " of copy ", source_copy);
  if (window >= 0) absl::StrAppend(&text, " of window ", window);
  if (buffer >= 0) absl::StrAppend(&text, " of buffer ", buffer);
  absl::StrAppend(&text, " (lane ", lane, ", channel ", channel, ")");
  for (const Piece& piece : pieces) {
    absl::StrAppend(&text, " tensor ", piece.tensor, " ",
                    piece.region.DebugString());
    if (piece.copy != 0) absl::StrAppend(&text, " copy ", piece.copy);
  }
  return text;
}

std::string Program::DebugString() const {
  std::string text =
      absl::StrCat("rank ", rank, ", plan ", plan_digest.Hex(), "\n");
  for (size_t i = 0; i < operations.size(); ++i) {
    absl::StrAppend(&text, i, ": ", operations[i].DebugString(), "\n");
  }
  return text;
}

Operation Allocate(Pieces pieces, int64_t bytes) {
  return {.kind = OperationKind::kAllocate,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation Free(Pieces pieces, int64_t bytes) {
  return {.kind = OperationKind::kFree,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation Reserve(int buffer, int64_t bytes) {
  return {.kind = OperationKind::kReserve,
          .buffer = buffer,
          .pieces = {},
          .bytes = bytes};
}

Operation Release(int buffer, int64_t bytes) {
  return {.kind = OperationKind::kRelease,
          .buffer = buffer,
          .pieces = {},
          .bytes = bytes};
}

Operation Adopt(Pieces pieces, int64_t bytes) {
  return {.kind = OperationKind::kAdopt,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation Copy(Pieces pieces, int64_t bytes, int lane, int source_copy) {
  return {.kind = OperationKind::kCopy,
          .lane = lane,
          .source_copy = source_copy,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation Zero(Pieces pieces, int64_t bytes) {
  return {.kind = OperationKind::kZero,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation Send(int peer, Pieces pieces, int64_t bytes, int lane, int channel,
               Space space) {
  return {.kind = OperationKind::kSend,
          .lane = lane,
          .channel = channel,
          .peer = peer,
          .space = space,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation Receive(int peer, Pieces pieces, int64_t bytes, int lane,
                  int channel) {
  return {.kind = OperationKind::kReceive,
          .lane = lane,
          .channel = channel,
          .peer = peer,
          .pieces = std::move(pieces),
          .bytes = bytes};
}

Operation SendStaged(int peer, Pieces pieces, int64_t bytes, int buffer,
                     int lane, int channel) {
  Operation send =
      Send(peer, std::move(pieces), bytes, lane, channel, Space::kStaging);
  send.buffer = buffer;
  return send;
}

Operation ReceiveStaged(int peer, Pieces pieces, int64_t bytes, int buffer,
                        int lane, int channel) {
  Operation receive = Receive(peer, std::move(pieces), bytes, lane, channel);
  receive.into = Space::kStaging;
  receive.buffer = buffer;
  return receive;
}

Operation Join() { return {.kind = OperationKind::kJoin, .pieces = {}}; }

Operation GroupBegin(int window, int lane) {
  return {.kind = OperationKind::kGroupBegin,
          .lane = lane,
          .window = window,
          .pieces = {}};
}

Operation GroupEnd(int lane) {
  return {.kind = OperationKind::kGroupEnd, .lane = lane, .pieces = {}};
}

}  // namespace dynatrain::transition
