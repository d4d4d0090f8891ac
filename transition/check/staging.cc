#include "transition/check/staging.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "vps/geometry/box.h"
#include "vps/geometry/checked.h"

namespace dynatrain::transition {
namespace {

using Part = BufferAccesses::Part;

std::string Name(const Piece& piece) {
  return absl::StrCat("tensor ", piece.tensor, " ", piece.region.DebugString());
}

// The elements of `a` that are in `b`.
int64_t Common(const Piece& a, const Piece& b) {
  if (a.tensor != b.tensor || a.copy != b.copy) return 0;
  const std::optional<vps::Box> common = vps::Intersect(a.region, b.region);
  return common.has_value() ? common->num_elements() : 0;
}

// One buffer from a kReserve to the kRelease after it, in the order of the
// list.
class BufferCheck {
 public:
  BufferCheck(const Claims& claims, int rank, int buffer,
              const BufferAccesses& all, size_t turn)
      : claims_(claims), rank_(rank), buffer_(buffer) {
    reserve_ = all.reserves[turn];
    const int end = turn + 1 < all.reserves.size()
                        ? all.reserves[turn + 1].when.operation
                        : std::numeric_limits<int>::max();
    for (const BufferAccesses::Span& it : all.releases) {
      if (In(it.when, end)) release_ = it;
    }
    for (const Part& it : all.writes) {
      if (In(it.when, end)) writes_.push_back(it);
    }
    for (const Part& it : all.reads) {
      if (In(it.when, end)) reads_.push_back(it);
    }
  }

  Violations Run() && {
    CheckTurn();
    CheckRoom();
    for (size_t i = 0; i < writes_.size(); ++i) CheckWrittenOnce(i);
    for (const Part& read : reads_) CheckThere(read);
    return std::move(violations_);
  }

 private:
  bool In(const When& when, int end) const {
    return when.operation > reserve_.when.operation && when.operation < end;
  }
  void Say(ViolationKind kind, const When& when, std::string text) {
    violations_.push_back({kind, rank_, when.operation,
                           absl::StrCat("buffer ", buffer_, ": ", text)});
  }

  // All that concerns the buffer is between its two ends.
  void CheckTurn() {
    for (const Part& write : writes_) {
      if (!reserve_.when.Before(write.when)) {
        Say(ViolationKind::kNotAllocated, write.when,
            "is written when it may not be reserved yet");
      }
    }
    if (!release_.has_value()) return;  // a leak, which CheckMemory says
    for (const auto* parts : {&writes_, &reads_}) {
      for (const Part& it : *parts) {
        if (it.when.Before(release_->when)) continue;
        Say(ViolationKind::kReleased, it.when,
            absl::StrCat("may be in use after operation ",
                         release_->when.operation, " has released it"));
      }
    }
  }

  void CheckRoom() {
    std::optional<int64_t> bytes = 0;
    for (const Part& write : writes_) {
      const std::optional<int64_t> more =
          vps::CheckedMultiply(write.piece.region.num_elements(),
                               claims_.item_bytes[write.piece.tensor]);
      bytes = bytes.has_value() && more.has_value()
                  ? vps::CheckedAdd(*bytes, *more)
                  : std::nullopt;
      if (bytes.has_value() && *bytes <= reserve_.bytes) continue;
      return Say(ViolationKind::kNotAllocated, write.when,
                 absl::StrCat(Name(write.piece), " has no room in ",
                              reserve_.bytes, " bytes"));
    }
  }

  void CheckWrittenOnce(size_t index) {
    const Part& write = writes_[index];
    const auto before = writes_.begin() + static_cast<std::ptrdiff_t>(index);
    const auto other = std::find_if(
        writes_.begin(), before,
        [&](const Part& it) { return Common(write.piece, it.piece) > 0; });
    if (other == before) return;
    Say(ViolationKind::kOverlap, write.when,
        absl::StrCat(Name(write.piece), " is written twice, also by operation ",
                     other->when.operation));
  }

  void CheckThere(const Part& read) {
    int64_t left = read.piece.region.num_elements();
    for (const Part& write : writes_) {
      if (left > 0 && write.when.Before(read.when)) {
        left -= Common(read.piece, write.piece);
      }
    }
    if (left == 0) return;
    Say(ViolationKind::kNotHeld, read.when,
        absl::StrCat(Name(read.piece),
                     " is read before it is sure to be there"));
  }

  const Claims& claims_;
  const int rank_;
  const int buffer_;
  BufferAccesses::Span reserve_;
  std::optional<BufferAccesses::Span> release_;
  std::vector<Part> writes_;
  std::vector<Part> reads_;
  Violations violations_;
};

// What comes before the first reservation, or without any.
void CheckUnreserved(int rank, int buffer, const BufferAccesses& all,
                     Violations& violations) {
  const int first = all.reserves.empty() ? std::numeric_limits<int>::max()
                                         : all.reserves[0].when.operation;
  for (const auto* parts : {&all.writes, &all.reads}) {
    for (const Part& it : *parts) {
      if (it.when.operation > first) continue;
      violations.push_back(
          {ViolationKind::kNotAllocated, rank, it.when.operation,
           absl::StrCat("buffer ", buffer, " is not reserved yet")});
    }
  }
}

}  // namespace

Violations CheckStaging(const Claims& claims, int rank,
                        const AccessTable& table) {
  Violations violations;
  for (const auto& [buffer, all] : table.buffers) {
    CheckUnreserved(rank, buffer, all, violations);
    for (size_t turn = 0; turn < all.reserves.size(); ++turn) {
      for (Violation& it : BufferCheck(claims, rank, buffer, all, turn).Run()) {
        violations.push_back(std::move(it));
      }
    }
  }
  return violations;
}

}  // namespace dynatrain::transition
