#include "transition/device/run_copy.h"

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using vps::Box;
using vps::StridedRun;

// A tensor in memory whose dims are permuted and padded at random, with a box
// in it: what a view of a torch tensor can look like.
struct Placed {
  std::vector<std::byte> memory;
  std::vector<int64_t> strides_bytes;
  StridedRun run;
};

int64_t Draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Placed Place(const Box& box, absl::Span<const int64_t> shape,
             int64_t item_bytes, std::mt19937_64& random) {
  Placed placed;
  const int dims = static_cast<int>(shape.size());
  std::vector<int> order(dims);
  std::iota(order.begin(), order.end(), 0);
  if (Draw(random, 0, 2) == 0) {
    std::shuffle(order.begin(), order.end(), random);
  }
  placed.strides_bytes.resize(dims);
  int64_t stride = item_bytes;
  for (int i = dims - 1; i >= 0; --i) {
    placed.strides_bytes[order[i]] = stride;
    stride *= shape[order[i]];
    if (Draw(random, 0, 3) == 0) stride += item_bytes * Draw(random, 1, 3);
  }
  placed.memory.resize(stride);
  for (std::byte& b : placed.memory) b = std::byte(random());
  placed.run = vps::RunOf(box, placed.strides_bytes, item_bytes);
  return placed;
}

// The bytes of `box` in row-major order, one element at a time.
std::vector<std::byte> BruteForce(const Placed& placed, const Box& box,
                                  int64_t item_bytes) {
  std::vector<std::byte> bytes;
  std::vector<int64_t> index(box.origin().begin(), box.origin().end());
  for (int64_t n = 0; n < box.num_elements(); ++n) {
    int64_t offset = 0;
    for (int d = 0; d < box.dims(); ++d) {
      offset += index[d] * placed.strides_bytes[d];
    }
    bytes.insert(bytes.end(), placed.memory.begin() + offset,
                 placed.memory.begin() + offset + item_bytes);
    for (int d = box.dims() - 1; d >= 0; --d) {
      if (++index[d] < box.origin(d) + box.extent(d)) break;
      index[d] = box.origin(d);
    }
  }
  return bytes;
}

struct Case {
  int64_t item_bytes;
  Box box;
  Placed source, target;
  std::vector<std::byte> bytes;  // of the source's box
};

Case RandomCase(std::mt19937_64& random) {
  Case c;
  c.item_bytes = int64_t{1} << Draw(random, 0, 4);
  std::vector<int64_t> shape, origin, extent;
  for (int64_t d = Draw(random, 0, 4); d > 0; --d) {
    shape.push_back(Draw(random, 1, 7));
    extent.push_back(Draw(random, 1, shape.back()));
    origin.push_back(Draw(random, 0, shape.back() - extent.back()));
  }
  c.box = Box::Create(origin, extent).value();
  c.source = Place(c.box, shape, c.item_bytes, random);
  c.target = Place(c.box, shape, c.item_bytes, random);
  c.bytes = BruteForce(c.source, c.box, c.item_bytes);
  return c;
}

TEST(RunCopyTest, PackGivesRowMajorBytesInAnyCut) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 2000; ++i) {
    const Case c = RandomCase(random);
    std::vector<std::byte> packed(c.bytes.size());
    for (int64_t at = 0; at < std::ssize(packed);) {
      const int64_t n = Draw(random, 1, std::ssize(packed) - at);
      Pack({c.source.memory.data(), &c.source.run}, at,
           absl::MakeSpan(packed).subspan(at, n));
      at += n;
    }
    ASSERT_EQ(packed, c.bytes) << c.source.run.DebugString();
  }
}

TEST(RunCopyTest, UnpackWritesTheBoxAndNothingElse) {
  std::mt19937_64 random = TestRandom(2);
  for (int i = 0; i < 2000; ++i) {
    Case c = RandomCase(random);
    const std::vector<std::byte> before = c.target.memory;
    for (int64_t at = 0; at < std::ssize(c.bytes);) {
      const int64_t n = Draw(random, 1, std::ssize(c.bytes) - at);
      Unpack(absl::MakeConstSpan(c.bytes).subspan(at, n),
             {c.target.memory.data(), &c.target.run}, at);
      at += n;
    }
    ASSERT_EQ(BruteForce(c.target, c.box, c.item_bytes), c.bytes);
    // Putting the old bytes back must give the old memory: all else is as it
    // was.
    Placed old = c.target;
    old.memory = before;
    const std::vector<std::byte> old_bytes =
        BruteForce(old, c.box, c.item_bytes);
    Unpack(old_bytes, {c.target.memory.data(), &c.target.run}, 0);
    ASSERT_EQ(c.target.memory, before);
  }
}

TEST(RunCopyTest, CopyRunIsPackThenUnpack) {
  std::mt19937_64 random = TestRandom(3);
  for (int i = 0; i < 2000; ++i) {
    Case c = RandomCase(random);
    for (int64_t at = 0; at < std::ssize(c.bytes);) {
      const int64_t n = Draw(random, 1, std::ssize(c.bytes) - at);
      CopyRun({c.source.memory.data(), &c.source.run},
              {c.target.memory.data(), &c.target.run}, at, n);
      at += n;
    }
    ASSERT_EQ(BruteForce(c.target, c.box, c.item_bytes), c.bytes);
  }
}

TEST(RunCopyTest, ContiguousStretchesCoverTheRunInOrder) {
  std::mt19937_64 random = TestRandom(4);
  for (int i = 0; i < 500; ++i) {
    const Case c = RandomCase(random);
    std::vector<std::byte> seen;
    while (true) {
      const auto stretch =
          ContiguousAt(ConstRunView{c.source.memory.data(), &c.source.run},
                       std::ssize(seen), Draw(random, 1, 100));
      if (stretch.empty()) break;
      seen.insert(seen.end(), stretch.begin(), stretch.end());
    }
    ASSERT_EQ(seen, c.bytes);
  }
}

TEST(RunCopyTest, AnEmptyBoxHasNothingToCopy) {
  const Box empty = Box::Create({0, 2}, {4, 0}).value();
  const StridedRun run = vps::RunInRowMajor(empty, {4, 4}, 4);
  Pack({nullptr, &run}, 0, {});
  Unpack({}, {nullptr, &run}, 0);
  CopyRun({nullptr, &run}, {nullptr, &run}, 0, 0);
  EXPECT_TRUE(ContiguousAt(ConstRunView{nullptr, &run}, 0, 10).empty());
}

}  // namespace
}  // namespace dynatrain::transition
