#include "transition/check/memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "transition/check/access_table.h"
#include "transition/check/extent_use.h"
#include "transition/check/staging.h"
#include "vps/geometry/box.h"
#include "vps/geometry/checked.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

bool InOne(absl::Span<const Box> boxes, const Box& region) {
  return std::any_of(boxes.begin(), boxes.end(),
                     [&](const Box& box) { return box.Contains(region); });
}

// Whether all of `access` is in `accesses` (disjoint) that come before it.
bool CoveredBefore(absl::Span<const Access> accesses, const Access& access) {
  int64_t left = access.region.num_elements();
  for (const Access& it : accesses) {
    if (!it.when.Before(access.when)) continue;
    const std::optional<Box> common = vps::Intersect(it.region, access.region);
    if (common.has_value()) left -= common->num_elements();
    if (left < 0) return false;  // not disjoint; more would overflow
  }
  return left == 0;
}

// What one rank's claims say of one copy of a tensor.
struct TensorClaims {
  std::vector<Box> source;
  std::vector<Box> target;
  std::vector<Box> zeros;
};

// All that concerns one copy of a tensor on one rank.
class TensorCheck {
 public:
  TensorCheck(int rank, TensorCopy tensor, const TensorClaims& claims,
              const TensorAccesses& accesses)
      : rank_(rank),
        tensor_(tensor),
        source_(claims.source),
        target_(claims.target),
        zeros_(claims.zeros),
        accesses_(accesses),
        room_(accesses.allocates),
        content_(accesses.writes) {
    // What is adopted has its room and its content.
    room_.insert(room_.end(), accesses.adopts.begin(), accesses.adopts.end());
    content_.insert(content_.end(), accesses.adopts.begin(),
                    accesses.adopts.end());
    written_ = content_;
    written_.insert(written_.end(), accesses.zeros.begin(),
                    accesses.zeros.end());
  }

  Violations Run() && {
    CheckSource();
    CheckRoom();
    CheckWrites();
    CheckZeros();
    CheckForwards();
    CheckCover();
    return std::move(violations_);
  }

 private:
  void Say(ViolationKind kind, int operation, std::string text) {
    std::string name = absl::StrCat("tensor ", tensor_.first);
    if (tensor_.second != 0) absl::StrAppend(&name, " copy ", tensor_.second);
    violations_.push_back(
        {kind, rank_, operation, absl::StrCat(name, ": ", text)});
  }
  void Say(ViolationKind kind, const Access& access, absl::string_view text) {
    Say(kind, access.when.operation,
        absl::StrCat(access.region.DebugString(), " ", text));
  }

  void CheckSource() {
    for (const Access& read : accesses_.source_reads) {
      if (!InOne(source_, read.region)) {
        Say(ViolationKind::kNotHeld, read, "is not in the source memory");
      }
      for (const Access& free : accesses_.frees) {
        if (vps::Intersect(read.region, free.region).has_value() &&
            !read.when.Before(free.when)) {
          Say(ViolationKind::kReleased, read,
              absl::StrCat("may be read after operation ", free.when.operation,
                           " has freed it"));
        }
      }
    }
    std::vector<Access> gone = accesses_.frees;
    gone.insert(gone.end(), accesses_.adopts.begin(), accesses_.adopts.end());
    for (const Access& it : gone) {
      if (!InOne(source_, it.region)) {
        Say(ViolationKind::kNotHeld, it, "is not in the source memory");
      }
    }
    SayOverlaps(ViolationKind::kReleased, gone, "is given up twice");
  }

  void CheckRoom() {
    for (const Access& it : room_) {
      if (!InOne(target_, it.region)) {
        Say(ViolationKind::kNotAllocated, it, "is not of the target world");
      }
    }
    SayOverlaps(ViolationKind::kOverlap, room_, "has room twice");
  }

  void CheckWrites() {
    for (const auto* accesses : {&accesses_.writes, &accesses_.zeros}) {
      for (const Access& write : *accesses) {
        if (!CoveredBefore(room_, write)) {
          Say(ViolationKind::kNotAllocated, write,
              "is written where there may be no room yet");
        }
      }
    }
    SayOverlaps(ViolationKind::kOverlap, written_, "is written twice");
  }

  void CheckZeros() {
    for (const Access& it : accesses_.zeros) {
      if (!InOne(zeros_, it.region)) {
        Say(ViolationKind::kWrongZero, it, "is zeroed, but some source has it");
      }
    }
    for (const Access& it : content_) {
      for (const Box& zero : zeros_) {
        if (!vps::Intersect(zero, it.region).has_value()) continue;
        Say(ViolationKind::kWrongZero, it,
            absl::StrCat("is filled, but ", zero.DebugString(),
                         " is to be zero"));
      }
    }
  }

  void CheckForwards() {
    for (const Access& read : accesses_.target_reads) {
      if (!CoveredBefore(written_, read)) {
        Say(ViolationKind::kNotHeld, read,
            "is passed on before it is sure to be there");
      }
    }
  }

  // Written regions are disjoint (else that was said), so counting is enough.
  void CheckCover() {
    for (const Box& target : target_) {
      int64_t elements = 0;
      for (const Access& it : written_) {
        const std::optional<Box> common = vps::Intersect(it.region, target);
        if (common.has_value()) elements += common->num_elements();
      }
      if (elements < target.num_elements()) {
        Say(ViolationKind::kGap, -1,
            absl::StrCat(target.num_elements() - elements, " elements of ",
                         target.DebugString(), " are never written"));
      }
    }
  }

  // Once for each access that overlaps one before it.
  void SayOverlaps(ViolationKind kind, absl::Span<const Access> accesses,
                   absl::string_view text) {
    for (size_t i = 0; i < accesses.size(); ++i) {
      const Access& it = accesses[i];
      const auto before = accesses.first(i);
      const auto other =
          std::find_if(before.begin(), before.end(), [&](const Access& other) {
            return vps::Intersect(it.region, other.region).has_value();
          });
      if (other == before.end()) continue;
      Say(kind, it,
          absl::StrCat(text, ", also by operation ", other->when.operation));
    }
  }

  const int rank_;
  const TensorCopy tensor_;
  const absl::Span<const Box> source_;
  const absl::Span<const Box> target_;
  const absl::Span<const Box> zeros_;
  const TensorAccesses& accesses_;
  std::vector<Access> room_;     // of the target world
  std::vector<Access> content_;  // of the target world, without zeros
  std::vector<Access> written_;  // with zeros
  Violations violations_;
};

std::map<TensorCopy, TensorClaims> ByTensor(const RankClaims& claims) {
  std::map<TensorCopy, TensorClaims> tensors;
  const auto of = [&](const Piece& piece) -> TensorClaims& {
    return tensors[{piece.tensor, piece.copy}];
  };
  for (const Piece& it : claims.source) of(it).source.push_back(it.region);
  for (const Piece& it : claims.target) of(it).target.push_back(it.region);
  for (const Piece& it : claims.zeros) of(it).zeros.push_back(it.region);
  return tensors;
}

// Memory operations are all in lane 0, so their sum is the same in every
// execution.
class Budget {
 public:
  Budget(const Claims& claims, const Program& program)
      : limit_(claims.ranks[program.rank].limit_bytes), program_(program) {
    const RankClaims& of_rank = claims.ranks[program.rank];
    if (of_rank.extent_bytes > 1) UseExtents(claims, of_rank);
    for (const Piece& piece : of_rank.source) {
      const std::optional<int64_t> bytes = vps::CheckedMultiply(
          piece.region.num_elements(), claims.item_bytes[piece.tensor]);
      if (!bytes.has_value()) used_ = std::nullopt;
      Take(source_.has_value() ? source_->Use(piece) : bytes.value_or(0), -1);
    }
  }

  Violations Run() && {
    for (int i = 0; i < static_cast<int>(program_.operations.size()); ++i) {
      const Operation& it = program_.operations[i];
      if (it.kind == OperationKind::kAllocate) Take(BytesOf(it), i);
      if (it.kind == OperationKind::kFree) Take(-BytesOf(it), i);
      if (it.kind == OperationKind::kReserve) Reserve(it, i);
      if (it.kind == OperationKind::kRelease) Release(it, i);
    }
    for (const auto& [buffer, bytes] : buffers_) {
      violations_.push_back({ViolationKind::kLeak, program_.rank, -1,
                             absl::StrCat("buffer ", buffer, " of ", bytes,
                                          " bytes is never released")});
    }
    return std::move(violations_);
  }

 private:
  // What is adopted is in the extents of the source.
  void UseExtents(const Claims& claims, const RankClaims& of_rank) {
    std::set<std::pair<int, int>> adopted;
    for (const Operation& it : program_.operations) {
      if (it.kind != OperationKind::kAdopt) continue;
      for (const Piece& piece : it.pieces) {
        adopted.insert({piece.tensor, piece.copy});
      }
    }
    std::vector<Piece> made;
    for (const Piece& it : of_rank.target) {
      if (adopted.count({it.tensor, it.copy}) == 0) made.push_back(it);
    }
    source_.emplace(of_rank.source, claims.item_bytes, of_rank.extent_bytes);
    target_.emplace(made, claims.item_bytes, of_rank.extent_bytes);
  }

  // By which an operation changes what is in use.
  int64_t BytesOf(const Operation& it) {
    if (!source_.has_value()) return it.bytes;
    int64_t bytes = 0;
    for (const Piece& piece : it.pieces) {
      bytes += it.kind == OperationKind::kFree ? -source_->Unuse(piece)
                                               : target_->Use(piece);
    }
    return bytes;
  }

  void Take(int64_t bytes, int operation) {
    if (used_.has_value()) used_ = vps::CheckedAdd(*used_, bytes);
    const bool over = !used_.has_value() || *used_ > limit_;
    if (over && !is_over_) {
      violations_.push_back(
          {ViolationKind::kOverBudget, program_.rank, operation,
           absl::StrCat(
               used_.has_value() ? absl::StrCat(*used_) : "more than 2^63",
               " bytes in use; the limit is ", limit_)});
    }
    is_over_ = over;
  }

  void Reserve(const Operation& it, int operation) {
    if (!buffers_.emplace(it.buffer, it.bytes).second) {
      violations_.push_back(
          {ViolationKind::kMalformed, program_.rank, operation,
           absl::StrCat("buffer ", it.buffer, " is reserved already")});
      return;
    }
    Take(it.bytes, operation);
  }

  void Release(const Operation& it, int operation) {
    const auto buffer = buffers_.find(it.buffer);
    if (buffer == buffers_.end() || buffer->second != it.bytes) {
      violations_.push_back({ViolationKind::kMalformed, program_.rank,
                             operation,
                             absl::StrCat("buffer ", it.buffer, " of ",
                                          it.bytes, " bytes is not reserved")});
      return;
    }
    Take(-it.bytes, operation);
    buffers_.erase(buffer);
  }

  const int64_t limit_;
  const Program& program_;
  std::optional<int64_t> used_ = 0;  // nullopt once it has overflowed
  bool is_over_ = false;             // one violation per excess is enough
  std::map<int, int64_t> buffers_;
  std::optional<ExtentUse> source_;  // if memory goes by whole extents
  std::optional<ExtentUse> target_;
  Violations violations_;
};

}  // namespace

Violations CheckMemory(const Claims& claims, const Program& program) {
  std::map<TensorCopy, TensorClaims> tensors =
      ByTensor(claims.ranks[program.rank]);
  AccessTable accesses = AccessesOf(program);
  for (const auto& [tensor, of_tensor] : tensors) accesses.tensors[tensor];
  Violations violations;
  const auto append = [&](Violations more) {
    for (Violation& it : more) violations.push_back(std::move(it));
  };
  for (const auto& [tensor, of_tensor] : accesses.tensors) {
    append(TensorCheck(program.rank, tensor, tensors[tensor], of_tensor).Run());
  }
  append(Budget(claims, program).Run());
  append(CheckStaging(claims, program.rank, accesses));
  return violations;
}

}  // namespace dynatrain::transition
