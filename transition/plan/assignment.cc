#include "transition/plan/assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/numeric/int128.h"

namespace dynatrain::transition {
namespace {

using Wide = absl::int128;

// kMaxAssignmentSize lesser worths fit one place.
constexpr int kPlaceBits = 26;
static_assert(kMaxAssignmentSize * kMaxLesserWorth < int64_t{1} << kPlaceBits);

Wide Pack(const Worth& worth) {
  return (Wide(worth.bytes) << (2 * kPlaceBits)) +
         (Wide(worth.second) << kPlaceBits) + worth.third;
}

// Costs are negative worths. Prices keep cost(r, c) - row_price(r) -
// column_price(c) >= 0, and = 0 for pairs that are assigned, which proves the
// sum smallest.
class Solver {
 public:
  Solver(int n, absl::Span<const Worth> worth) : n_(n) {
    worth_.reserve(worth.size());
    for (const Worth& w : worth) worth_.push_back(Pack(w));
    row_price_.resize(n);
    column_price_.resize(n);
    row_of_column_.assign(n, -1);
    column_of_row_.assign(n, -1);
  }

  std::vector<int> Solve() && {
    ReduceColumns();
    for (int row = 0; row < n_; ++row) {
      if (column_of_row_[row] < 0) Augment(row);
    }
    return std::move(column_of_row_);
  }

 private:
  Wide Cost(int row, int column) const {
    return -worth_[static_cast<size_t>(row) * n_ + column];
  }
  Wide Reduced(int row, int column) const {
    return Cost(row, column) - row_price_[row] - column_price_[column];
  }
  void Match(int row, int column) {
    row_of_column_[column] = row;
    column_of_row_[row] = column;
  }

  // Prices to start with, and the pairs that they make free.
  void ReduceColumns() {
    for (int column = 0; column < n_; ++column) {
      Wide least = Cost(0, column);
      for (int row = 1; row < n_; ++row) {
        least = std::min(least, Cost(row, column));
      }
      column_price_[column] = least;
    }
    for (int row = 0; row < n_; ++row) {
      Wide least = Reduced(row, 0);
      for (int column = 1; column < n_; ++column) {
        least = std::min(least, Reduced(row, column));
      }
      row_price_[row] = least;
      for (int column = 0; column < n_; ++column) {
        if (row_of_column_[column] < 0 && Reduced(row, column) == 0) {
          Match(row, column);
          break;
        }
      }
    }
  }

  // Assigns one more row, along the shortest path from it to a free column
  // (Dijkstra over reduced costs).
  void Augment(int start) {
    std::vector<Wide> distance(n_);
    std::vector<int> row_before(n_, start);
    std::vector<char> done(n_, 0);
    for (int column = 0; column < n_; ++column) {
      distance[column] = Reduced(start, column);
    }
    std::vector<int> order;
    int last = -1;
    while (last < 0) {
      const int column = Nearest(distance, done);
      done[column] = 1;
      order.push_back(column);
      const int row = row_of_column_[column];
      if (row < 0) {
        last = column;
        break;
      }
      for (int next = 0; next < n_; ++next) {
        if (done[next] != 0) continue;
        const Wide through = distance[column] + Reduced(row, next);
        if (through < distance[next]) {
          distance[next] = through;
          row_before[next] = row;
        }
      }
    }
    Reprice(start, order, distance);
    for (int column = last; column >= 0;) {
      const int row = row_before[column];
      const int next = column_of_row_[row];
      Match(row, column);
      column = row == start ? -1 : next;
    }
  }

  int Nearest(const std::vector<Wide>& distance,
              const std::vector<char>& done) const {
    int nearest = -1;
    for (int column = 0; column < n_; ++column) {
      if (done[column] != 0) continue;
      if (nearest < 0 || distance[column] < distance[nearest]) nearest = column;
    }
    return nearest;
  }

  void Reprice(int start, const std::vector<int>& order,
               const std::vector<Wide>& distance) {
    const Wide length = distance[order.back()];
    row_price_[start] += length;
    for (int column : order) {
      const Wide slack = length - distance[column];
      column_price_[column] -= slack;
      if (row_of_column_[column] >= 0) {
        row_price_[row_of_column_[column]] += slack;
      }
    }
  }

  int n_;
  std::vector<Wide> worth_, row_price_, column_price_;
  std::vector<int> row_of_column_, column_of_row_;
};

}  // namespace

std::vector<int> BestAssignment(int n, absl::Span<const Worth> worth) {
  if (n == 0) return {};
  return Solver(n, worth).Solve();
}

std::vector<int> GreedyAssignment(int n, absl::Span<const Worth> worth) {
  std::vector<int> pairs(worth.size());
  std::iota(pairs.begin(), pairs.end(), 0);
  std::sort(pairs.begin(), pairs.end(), [&](int a, int b) {
    return worth[a] != worth[b] ? worth[a] > worth[b] : a < b;
  });
  std::vector<int> column_of_row(n, -1);
  std::vector<char> taken(n, 0);
  for (int pair : pairs) {
    const int row = pair / n, column = pair % n;
    if (column_of_row[row] >= 0 || taken[column] != 0) continue;
    column_of_row[row] = column;
    taken[column] = 1;
  }
  return column_of_row;
}

int64_t AssignmentBound(int n, absl::Span<const Worth> worth) {
  std::vector<int64_t> price(n);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      price[column] = std::max(price[column], worth[row * n + column].bytes);
    }
  }
  int64_t bound = std::accumulate(price.begin(), price.end(), int64_t{0});
  for (int row = 0; row < n; ++row) {
    int64_t best = std::numeric_limits<int64_t>::min();
    for (int column = 0; column < n; ++column) {
      best = std::max(best, worth[row * n + column].bytes - price[column]);
    }
    bound += best;
  }
  return bound;
}

Worth SumOf(int n, absl::Span<const Worth> worth,
            absl::Span<const int> column_of_row) {
  Worth sum;
  for (int row = 0; row < n; ++row) sum += worth[row * n + column_of_row[row]];
  return sum;
}

}  // namespace dynatrain::transition
