#include "transition/device/element_digest.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/strided_run.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

int64_t Draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// A whole global tensor, row-major.
struct Tensor {
  std::vector<int64_t> shape;
  int64_t item_bytes;
  std::vector<std::byte> memory;

  uint64_t Digest(const Box& region, uint64_t seed) const {
    const auto strides = vps::RowMajorStrides(shape, item_bytes);
    int64_t offset = 0;
    for (int d = 0; d < region.dims(); ++d) {
      offset += region.origin(d) * strides[d];
    }
    return ElementDigest::Create(region, shape, strides, item_bytes, seed)
        .Sum(memory.data() + offset, 0, region.num_elements());
  }
};

Tensor RandomTensor(std::mt19937_64& random, int64_t max_extent) {
  Tensor t;
  for (int64_t d = Draw(random, 0, 4); d > 0; --d) {
    t.shape.push_back(Draw(random, 1, max_extent));
  }
  t.item_bytes = int64_t{1} << Draw(random, 0, 4);
  const int64_t n = Box::Whole(t.shape).value().num_elements();
  t.memory.resize(n * t.item_bytes);
  for (std::byte& b : t.memory) b = std::byte(random());
  return t;
}

Box RandomBox(absl::Span<const int64_t> shape, std::mt19937_64& random) {
  std::vector<int64_t> origin, extent;
  for (int64_t n : shape) {
    extent.push_back(Draw(random, 1, n));
    origin.push_back(Draw(random, 0, n - extent.back()));
  }
  return Box::Create(origin, extent).value();
}

// The definition, one element at a time.
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t BruteForce(const Tensor& t, const Box& region, uint64_t seed) {
  uint64_t sum = 0;
  std::vector<int64_t> index(region.origin().begin(), region.origin().end());
  for (int64_t n = 0; n < region.num_elements(); ++n) {
    const int64_t flat = vps::FlatIndex(index, t.shape);
    const std::byte* p = t.memory.data() + flat * t.item_bytes;
    const int words = t.item_bytes == 16 ? 2 : 1;
    for (int w = 0; w < words; ++w) {
      uint64_t bits = 0;
      memcpy(&bits, p + 8 * w, std::min<int64_t>(t.item_bytes, 8));
      sum += Mix(bits + seed + (flat * words + w) * 0x9E3779B97F4A7C15);
    }
    for (int d = region.dims() - 1; d >= 0; --d) {
      if (++index[d] < region.origin(d) + region.extent(d)) break;
      index[d] = region.origin(d);
    }
  }
  return sum;
}

TEST(ElementDigestTest, EqualsItsDefinition) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 1000; ++i) {
    const Tensor t = RandomTensor(random, 9);
    const Box region = RandomBox(t.shape, random);
    const uint64_t seed = random();
    ASSERT_EQ(t.Digest(region, seed), BruteForce(t, region, seed))
        << region << " item_bytes=" << t.item_bytes;
  }
}

TEST(ElementDigestTest, DoesNotDependOnTheMemoryLayout) {
  std::mt19937_64 random = TestRandom(2);
  for (int i = 0; i < 300; ++i) {
    const Tensor t = RandomTensor(random, 9);
    const Box region = RandomBox(t.shape, random);
    const int dims = region.dims();
    // A copy of the region with its dims in the opposite order in memory.
    std::vector<int64_t> strides(dims);
    int64_t stride = t.item_bytes;
    for (int d = 0; d < dims; ++d) {
      strides[d] = stride;
      stride *= region.extent(d);
    }
    std::vector<std::byte> copy(stride);
    std::vector<int64_t> index(dims), global(dims);
    for (int64_t n = 0; n < region.num_elements(); ++n) {
      int64_t at = 0, rest = n;
      for (int d = dims - 1; d >= 0; --d) {
        index[d] = rest % region.extent(d);
        rest /= region.extent(d);
        global[d] = region.origin(d) + index[d];
        at += index[d] * strides[d];
      }
      memcpy(copy.data() + at,
             t.memory.data() + vps::FlatIndex(global, t.shape) * t.item_bytes,
             t.item_bytes);
    }
    EXPECT_EQ(ElementDigest::Create(region, t.shape, strides, t.item_bytes, 5)
                  .Sum(copy.data(), 0, region.num_elements()),
              t.Digest(region, 5));
  }
}

TEST(ElementDigestTest, RangesAddUp) {
  std::mt19937_64 random = TestRandom(3);
  for (int i = 0; i < 300; ++i) {
    const Tensor t = RandomTensor(random, 9);
    const auto strides = vps::RowMajorStrides(t.shape, t.item_bytes);
    const Box whole = Box::Whole(t.shape).value();
    const ElementDigest digest =
        ElementDigest::Create(whole, t.shape, strides, t.item_bytes, 7);
    uint64_t sum = 0;
    for (int64_t at = 0; at < digest.num_elements();) {
      const int64_t n = Draw(random, 1, digest.num_elements() - at);
      sum += digest.Sum(t.memory.data(), at, n);
      at += n;
    }
    EXPECT_EQ(sum, t.Digest(whole, 7));
  }
}

TEST(ElementDigestTest, EachFlippedBitShows) {
  std::mt19937_64 random = TestRandom(4);
  for (int64_t item_bytes : {1, 2, 4, 8, 16}) {
    Tensor t{{5, 6}, item_bytes, std::vector<std::byte>(30 * item_bytes)};
    for (std::byte& b : t.memory) b = std::byte(random());
    const Box whole = Box::Whole(t.shape).value();
    const uint64_t digest = t.Digest(whole, 0);
    for (size_t bit = 0; bit < t.memory.size() * 8; ++bit) {
      t.memory[bit / 8] ^= std::byte(1 << bit % 8);
      EXPECT_NE(t.Digest(whole, 0), digest) << bit;
      t.memory[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
}

TEST(ElementDigestTest, ExchangedElementsAndOtherSeedsShow) {
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Tensor t{{1000}, 4, std::vector<std::byte>(4000)};
  memcpy(t.memory.data(), values.data(), 4000);
  const Box whole = Box::Whole(t.shape).value();
  const uint64_t digest = t.Digest(whole, 0);
  EXPECT_NE(t.Digest(whole, 1), digest);
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    std::swap(values[i], values[i + 1]);
    memcpy(t.memory.data(), values.data(), 4000);
    EXPECT_NE(t.Digest(whole, 0), digest) << i;
    std::swap(values[i], values[i + 1]);
  }
}

}  // namespace
}  // namespace dynatrain::transition
