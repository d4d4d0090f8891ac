#include "transition/check/form.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "vps/geometry/checked.h"

namespace dynatrain::transition {
namespace {

// Any program that needs more is a mistake; it bounds what a check allocates.
constexpr int kMaxLanes = 64;

bool IsMessage(OperationKind kind) {
  return kind == OperationKind::kSend || kind == OperationKind::kReceive;
}

bool IsMemory(OperationKind kind) {
  switch (kind) {
    case OperationKind::kAllocate:
    case OperationKind::kFree:
    case OperationKind::kReserve:
    case OperationKind::kRelease:
    case OperationKind::kAdopt:
      return true;
    default:
      return false;
  }
}

bool HasPieces(OperationKind kind) {
  switch (kind) {
    case OperationKind::kAllocate:
    case OperationKind::kFree:
    case OperationKind::kAdopt:
    case OperationKind::kCopy:
    case OperationKind::kZero:
    case OperationKind::kSend:
    case OperationKind::kReceive:
      return true;
    default:
      return false;
  }
}

// What an operation of the kind may read and write; other fields than those are
// kSource and kTarget.
bool MayRead(OperationKind kind, Space space) {
  switch (space) {
    case Space::kSource:
      return true;
    case Space::kTarget:
    case Space::kStaging:
      return kind == OperationKind::kSend || kind == OperationKind::kCopy;
  }
  return false;
}
bool MayWrite(OperationKind kind, Space space) {
  switch (space) {
    case Space::kSource:
      return false;
    case Space::kTarget:
      return true;
    case Space::kStaging:
      return kind == OperationKind::kReceive || kind == OperationKind::kCopy;
  }
  return false;
}

class FormCheck {
 public:
  FormCheck(const Claims& claims, const Program& program)
      : claims_(claims), program_(program) {}

  Violations Run() && {
    if (program_.plan_digest != claims_.plan_digest) {
      Say(ViolationKind::kWrongDigest,
          absl::StrCat("the program is of plan ", program_.plan_digest.Hex(),
                       ", not of ", claims_.plan_digest.Hex()));
    }
    for (const Operation& it : program_.operations) {
      ++index_;
      if (it.lane < 0 || it.lane >= kMaxLanes) {
        Malformed(
            absl::StrCat("lane ", it.lane, "; lanes are 0 to ", kMaxLanes - 1));
        continue;
      }
      CheckPieces(it);
      CheckSpaces(it);
      if (IsMessage(it.kind)) CheckMessage(it);
      if (IsMemory(it.kind) && it.lane != 0) {
        Malformed("a memory operation outside lane 0");
      }
      CheckNesting(it);
    }
    index_ = -1;
    for (const auto& [lane, group] : groups_) {
      if (group.open) {
        Malformed(absl::StrCat("a group of lane ", lane, " never ends"));
      }
    }
    return std::move(violations_);
  }

 private:
  struct Group {
    bool open = false;
    int operations = 0;
    int window = -1;  // of the last group of the lane
  };

  void Say(ViolationKind kind, std::string text) {
    violations_.push_back({kind, program_.rank, index_, std::move(text)});
  }
  void Malformed(std::string text) {
    Say(ViolationKind::kMalformed, std::move(text));
  }

  void CheckPieces(const Operation& it) {
    if (HasPieces(it.kind) == it.pieces.empty()) {
      return Malformed(absl::StrCat(OperationName(it.kind), " with ",
                                    it.pieces.size(), " pieces"));
    }
    if (!HasPieces(it.kind)) {
      if (it.bytes < 0) Malformed(absl::StrCat(it.bytes, " bytes"));
      return;
    }
    std::optional<int64_t> bytes = 0;
    for (const Piece& piece : it.pieces) {
      if (piece.tensor < 0 || piece.tensor >= claims_.item_bytes.size()) {
        return Malformed(absl::StrCat("tensor ", piece.tensor, "; there are ",
                                      claims_.item_bytes.size()));
      }
      if (piece.region.empty()) return Malformed("an empty piece");
      if (piece.copy < 0) {
        return Malformed(absl::StrCat("copy ", piece.copy));
      }
      const std::optional<int64_t> more = vps::CheckedMultiply(
          piece.region.num_elements(), claims_.item_bytes[piece.tensor]);
      if (bytes.has_value() && more.has_value()) {
        bytes = vps::CheckedAdd(*bytes, *more);
      } else {
        bytes = std::nullopt;
      }
    }
    if (bytes != it.bytes) {
      Say(ViolationKind::kMismatched,
          absl::StrCat("says ", it.bytes, " bytes; its pieces have ",
                       bytes.has_value() ? absl::StrCat(*bytes) : "too many"));
    }
  }

  void CheckSpaces(const Operation& it) {
    if (!MayRead(it.kind, it.space)) {
      Malformed(absl::StrCat(OperationName(it.kind), " out of ",
                             SpaceName(it.space), " memory"));
    }
    if (!MayWrite(it.kind, it.into)) {
      Malformed(absl::StrCat(OperationName(it.kind), " into ",
                             SpaceName(it.into), " memory"));
    }
    if (it.space == Space::kStaging && it.into == Space::kStaging) {
      Malformed("from a buffer into itself");
    }
    if (it.source_copy < 0 ||
        (it.source_copy > 0 && it.kind != OperationKind::kCopy)) {
      Malformed(
          absl::StrCat(OperationName(it.kind), " of copy ", it.source_copy));
    }
  }

  void CheckMessage(const Operation& it) {
    if (it.peer < 0 || it.peer >= claims_.ranks.size() ||
        it.peer == program_.rank) {
      return Malformed(absl::StrCat("peer ", it.peer, " of rank ",
                                    program_.rank, "; ranks are 0 to ",
                                    claims_.ranks.size() - 1));
    }
    const auto [lane, is_new] =
        lane_of_.try_emplace(std::tuple(it.kind, it.peer, it.channel), it.lane);
    if (!is_new && lane->second != it.lane) {
      Malformed(absl::StrCat("messages with rank ", it.peer, " on channel ",
                             it.channel, " are in lanes ", lane->second,
                             " and ", it.lane, ", so they have no order"));
    }
  }

  void CheckNesting(const Operation& it) {
    Group& group = groups_[it.lane];
    switch (it.kind) {
      case OperationKind::kGroupBegin:
        return Begin(it, group);
      case OperationKind::kGroupEnd:
        if (!group.open) Malformed("no group to end");
        group.open = false;
        return;
      case OperationKind::kJoin:
        for (const auto& [lane, other] : groups_) {
          if (other.open) {
            Malformed(absl::StrCat("a join inside a group of lane ", lane));
          }
        }
        return;
      default:
        break;
    }
    if (!group.open) return;
    if (!IsMessage(it.kind)) {
      return Malformed(absl::StrCat(OperationName(it.kind), " in a group"));
    }
    if (++group.operations == claims_.max_group_operations + 1) {
      Say(ViolationKind::kGroup,
          absl::StrCat("a group of more than ", claims_.max_group_operations,
                       " operations"));
    }
  }

  void Begin(const Operation& it, Group& group) {
    if (group.open) return Malformed("a group in a group");
    if (it.window <= group.window) {
      Say(ViolationKind::kGroup,
          absl::StrCat("window ", it.window, " after window ", group.window));
    }
    group = {.open = true, .window = it.window};
  }

  const Claims& claims_;
  const Program& program_;
  int index_ = -1;
  std::map<int, Group> groups_;  // by lane
  std::map<std::tuple<OperationKind, int, int>, int> lane_of_;
  Violations violations_;
};

}  // namespace

Violations CheckForm(const Claims& claims, absl::Span<const Program> programs) {
  if (programs.size() != claims.ranks.size()) {
    return {{ViolationKind::kMalformed, -1, -1,
             absl::StrCat(programs.size(), " programs for ",
                          claims.ranks.size(), " ranks")}};
  }
  Violations violations;
  for (int rank = 0; rank < static_cast<int>(programs.size()); ++rank) {
    if (programs[rank].rank != rank) {
      violations.push_back(
          {ViolationKind::kMalformed, rank, -1,
           absl::StrCat("its program is that of rank ", programs[rank].rank)});
      continue;
    }
    for (Violation& it : FormCheck(claims, programs[rank]).Run()) {
      violations.push_back(std::move(it));
    }
  }
  return violations;
}

}  // namespace dynatrain::transition
