#include "vps/geometry/interval.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace dynatrain::vps {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Interval, IsHalfOpen) {
  const Interval interval = {2, 5};
  EXPECT_EQ(interval.size(), 3);
  EXPECT_TRUE(interval.Contains(2));
  EXPECT_FALSE(interval.Contains(5));
  EXPECT_EQ(DebugString(interval), "[2, 5)");
}

TEST(Interval, OfDisjointOnesTheIntersectionIsEmpty) {
  EXPECT_TRUE(Intersect({0, 3}, {3, 5}).empty());
  EXPECT_EQ(Intersect({0, 3}, {5, 7}).size(), 0);
  EXPECT_EQ(Intersect({0, 4}, {2, 7}), (Interval{2, 4}));
}

TEST(ChunkOf, MakesTheLastPiecesShorterOrEmpty) {
  EXPECT_EQ(ChunkOf({0, 10}, 4, 0), (Interval{0, 3}));
  EXPECT_EQ(ChunkOf({0, 10}, 4, 3), (Interval{9, 10}));
  EXPECT_EQ(ChunkOf({5, 8}, 4, 2), (Interval{7, 8}));
  EXPECT_EQ(ChunkOf({5, 8}, 4, 3), (Interval{8, 8}));
  EXPECT_EQ(ChunkOf({5, 5}, 2, 1), (Interval{5, 5}));
}

TEST(ChunkOf, DoesNotOverflow) {
  EXPECT_EQ(ChunkOf({0, kMax}, 2, 1), (Interval{kMax / 2 + 1, kMax}));
  EXPECT_EQ(ChunkOf({0, kMax}, kMax, kMax - 1), (Interval{kMax - 1, kMax}));
  EXPECT_EQ(ChunkOf({0, kMax - 1}, 3, 2).end, kMax - 1);
}

// All small cases: the chunks tile the interval, and those that overlap a part
// are the ones that ChunksOverlapping names.
TEST(ChunkOf, TilesAndInverts) {
  for (int64_t size = 0; size <= 12; ++size) {
    for (int64_t count = 1; count <= 15; ++count) {
      const Interval whole = {100, 100 + size};
      int64_t next = whole.begin;
      for (int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(ChunkOf(whole, count, i).begin, next);
        next = ChunkOf(whole, count, i).end;
      }
      EXPECT_EQ(next, whole.end);
      for (int64_t b = whole.begin; b <= whole.end; ++b) {
        for (int64_t e = b; e <= whole.end; ++e) {
          const Interval named = ChunksOverlapping(whole, count, {b, e});
          for (int64_t i = 0; i < count; ++i) {
            EXPECT_EQ(named.Contains(i),
                      !Intersect(ChunkOf(whole, count, i), {b, e}).empty())
                << whole << " in " << count << ", part " << Interval{b, e};
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::vps
