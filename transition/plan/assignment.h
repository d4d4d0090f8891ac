// Assignment: n rows to n columns, one each, so that the sum of what the pairs
// are worth is largest.
#ifndef TRANSITION_PLAN_ASSIGNMENT_H_
#define TRANSITION_PLAN_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace dynatrain::transition {

// What a pair is worth: bytes first; of equal bytes what is dearer in the
// second place decides, then what is in the third. Sums add place by place.
struct Worth {
  int64_t bytes = 0;
  int64_t second = 0;
  int64_t third = 0;

  Worth& operator+=(const Worth& other) {
    bytes += other.bytes;
    second += other.second;
    third += other.third;
    return *this;
  }
  friend auto operator<=>(const Worth&, const Worth&) = default;
  friend bool operator==(const Worth&, const Worth&) = default;
};

// Second and third places of all pairs are below this, so that sums over
// kMaxAssignmentSize rows never reach the place before.
inline constexpr int64_t kMaxLesserWorth = 1 << 13;
inline constexpr int kMaxAssignmentSize = 1 << 11;

// The column of each row. `worth` has a row of n entries per row. The sum is
// the largest there is; among equal ones the result is the same on every
// machine. Shortest augmenting paths over exact integers (Jonker and Volgenant,
// Computing 38, 1987). O(n^3) at worst.
// REQUIRES, here and below: 0 <= n <= kMaxAssignmentSize, worth.size() == n *
// n, no entry is negative, lesser worths are below kMaxLesserWorth.
std::vector<int> BestAssignment(int n, absl::Span<const Worth> worth);

// The dearest pair first, then the dearest of what is left, the first of equal
// ones by row, then column. At least half of the best sum of bytes.
// O(n^2 log n).
std::vector<int> GreedyAssignment(int n, absl::Span<const Worth> worth);

// No assignment is worth more bytes: the columns' largest entries, less what
// each row is short of them (a solution of the dual). O(n^2).
int64_t AssignmentBound(int n, absl::Span<const Worth> worth);

// Of the assignment.
Worth SumOf(int n, absl::Span<const Worth> worth,
            absl::Span<const int> column_of_row);

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_ASSIGNMENT_H_
