#include "vps/geometry/strided_run.h"

#include <ostream>
#include <random>
#include <vector>

#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"

namespace dynatrain::vps {
namespace {

constexpr int64_t kItemBytes = 4;

// The byte offsets that a run visits, in its order.
std::vector<int64_t> Bytes(const StridedRun& run) {
  std::vector<int64_t> starts = {run.offset_bytes};
  for (const StridedRun::Loop& loop : run.loops) {
    std::vector<int64_t> more;
    for (int64_t start : starts) {
      for (int64_t i = 0; i < loop.count; ++i) {
        more.push_back(start + i * loop.stride_bytes);
      }
    }
    starts = more;
  }
  std::vector<int64_t> bytes;
  for (int64_t start : starts) {
    for (int64_t i = 0; i < run.inner_bytes; ++i) bytes.push_back(start + i);
  }
  return bytes;
}

std::vector<int64_t> BytesOfElements(const Box& box,
                                     const std::vector<int64_t>& strides) {
  std::vector<int64_t> bytes;
  for (const Index& index : ElementsOf(box)) {
    int64_t start = 0;
    for (size_t d = 0; d < index.size(); ++d) start += index[d] * strides[d];
    for (int64_t i = 0; i < kItemBytes; ++i) bytes.push_back(start + i);
  }
  return bytes;
}

TEST(StridedRun, OfAWholeTensorIsContiguous) {
  const StridedRun run =
      RunInRowMajor(*Box::Whole({2, 3, 4}), {2, 3, 4}, kItemBytes);
  EXPECT_TRUE(run.contiguous());
  EXPECT_EQ(run.inner_bytes, 96);
  EXPECT_EQ(run.DebugString(), "0 + 96 B");
}

TEST(StridedRun, OfColumnsIsOneLoop) {
  const StridedRun run =
      RunInRowMajor(*Box::Create({1, 2}, {3, 2}), {8, 4}, kItemBytes);
  EXPECT_EQ(run.DebugString(), "24 + 8 B x 3 step 16");
  EXPECT_EQ(run.num_bytes(), 24);
}

TEST(StridedRun, MergesLoopsThatContinueEachOther) {
  // Columns of all rows of all matrices: one loop, not two.
  const StridedRun run =
      RunInRowMajor(*Box::Create({0, 0, 1}, {5, 6, 2}), {5, 6, 4}, kItemBytes);
  ASSERT_EQ(run.loops.size(), 1);
  EXPECT_EQ(run.loops[0], (StridedRun::Loop{30, 16}));
}

TEST(StridedRun, OfAScalarIsOneItemAndOfAnEmptyBoxNothing) {
  EXPECT_EQ(RunInRowMajor(Box(), {}, kItemBytes).num_bytes(), kItemBytes);
  EXPECT_EQ(RunInRowMajor(*Box::Whole({0, 4}), {0, 4}, kItemBytes).num_bytes(),
            0);
}

TEST(StridedRun, VisitsTheElementsInRowMajorOrder) {
  std::mt19937_64 random = TestRandom(13);
  for (int i = 0; i < 2000; ++i) {
    std::vector<int64_t> shape;
    for (int dim = 0; dim < i % 5; ++dim) shape.push_back(1 + random() % 5);
    CheckShrunk(
        RandomBoxes(shape, 1, random), SmallerBoxes, [](const BoxesCase& it) {
          const auto strides = RowMajorStrides(it.shape, kItemBytes);
          const StridedRun run =
              RunInRowMajor(it.boxes[0], it.shape, kItemBytes);
          EXPECT_EQ(Bytes(run), BytesOfElements(it.boxes[0], {strides.begin(),
                                                              strides.end()}))
              << run;
          for (const StridedRun::Loop& loop : run.loops) {
            EXPECT_GT(loop.count, 1);
          }
        });
    if (HasFailure()) return;
  }
}

struct StridedCase {
  BoxesCase box;  // one
  std::vector<int64_t> strides;

  friend std::ostream& operator<<(std::ostream& out, const StridedCase& it) {
    return out << it.box << " strides " << testing::PrintToString(it.strides);
  }
};

std::vector<StridedCase> SmallerStrided(const StridedCase& it) {
  std::vector<StridedCase> smaller;
  for (size_t dim = 0; dim < it.strides.size(); ++dim) {
    smaller.push_back({WithoutDim(it.box, static_cast<int>(dim)), it.strides});
    std::vector<int64_t>& strides = smaller.back().strides;
    strides.erase(strides.begin() + dim);
  }
  for (const BoxesCase& less : WithLess(it.box)) {
    smaller.push_back({less, it.strides});
  }
  for (size_t dim = 0; dim < it.strides.size(); ++dim) {
    const int64_t items = it.strides[dim] / kItemBytes;
    if (items == 0) continue;
    smaller.emplace_back(it).strides[dim] = items / 2 * kItemBytes;
  }
  return smaller;
}

TEST(StridedRun, TakesAnyStrides) {
  std::mt19937_64 random = TestRandom(14);
  for (int i = 0; i < 2000; ++i) {
    std::vector<int64_t> shape, strides;
    for (int dim = 0; dim < i % 5; ++dim) {
      shape.push_back(1 + random() % 4);
      // Also transposed, padded, broadcast and reversed ones.
      strides.push_back((static_cast<int64_t>(random() % 40) - 8) * kItemBytes);
    }
    CheckShrunk(StridedCase{RandomBoxes(shape, 1, random), strides},
                SmallerStrided, [](const StridedCase& it) {
                  const Box& box = it.box.boxes[0];
                  EXPECT_EQ(Bytes(RunOf(box, it.strides, kItemBytes)),
                            BytesOfElements(box, it.strides));
                });
    if (HasFailure()) return;
  }
}

TEST(FlatIndex, CountsElementsInRowMajorOrder) {
  int64_t next = 0;
  for (const Index& index : ElementsOf(*Box::Whole({3, 4, 5}))) {
    EXPECT_EQ(FlatIndex(index, {3, 4, 5}), next++);
  }
  EXPECT_EQ(FlatIndex({}, {}), 0);
}

}  // namespace
}  // namespace dynatrain::vps
