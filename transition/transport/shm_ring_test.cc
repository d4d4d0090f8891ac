#include "transition/transport/shm_ring.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

constexpr size_t kCapacity = 4096;

struct Ring {
  ShmRingControl control = {};
  std::vector<std::byte> bytes = std::vector<std::byte>(kCapacity);
  ShmRingWriter writer{&control, bytes.data(), kCapacity};
  ShmRingReader reader{&control, bytes.data(), kCapacity};
};

TEST(ShmRingTest, TakesAsMuchAsItsCapacityAndNoMore) {
  Ring ring;
  EXPECT_EQ(ring.writer.Space().value().size(), kCapacity);
  EXPECT_TRUE(ring.reader.Available().value().empty());
  ring.writer.Commit(kCapacity);
  EXPECT_TRUE(ring.writer.Space().value().empty());
  EXPECT_EQ(ring.reader.Available().value().size(), kCapacity);
  ring.reader.Consume(100);
  EXPECT_EQ(ring.writer.Space().value().size(), 100);
}

TEST(ShmRingTest, StretchesEndWhereTheRingDoes) {
  Ring ring;
  ring.writer.Commit(kCapacity - 10);
  ring.reader.Consume(kCapacity - 10);
  EXPECT_EQ(ring.writer.Space().value().size(), 10);
  ring.writer.Commit(10);
  EXPECT_EQ(ring.writer.Space().value().size(), kCapacity - 10);
  EXPECT_EQ(ring.reader.Available().value().size(), 10);
}

TEST(ShmRingTest, BytesComeInOrderBetweenTwoThreads) {
  Ring ring;
  constexpr size_t kTotal = 1 << 20;
  std::thread writer([&] {
    std::mt19937_64 random = TestRandom(1);
    for (size_t at = 0; at < kTotal;) {
      auto space = ring.writer.Space().value();
      const size_t n =
          std::min<size_t>({space.size(), random() % 700 + 1, kTotal - at});
      for (size_t i = 0; i < n; ++i) space[i] = std::byte((at + i) * 31);
      ring.writer.Commit(n);
      at += n;
      if (n == 0) std::this_thread::yield();
    }
  });
  std::mt19937_64 random = TestRandom(2);
  size_t wrong = 0;
  for (size_t at = 0; at < kTotal;) {
    const auto bytes = ring.reader.Available().value();
    const size_t n = std::min<size_t>(bytes.size(), random() % 700 + 1);
    for (size_t i = 0; i < n; ++i) {
      wrong += bytes[i] != std::byte((at + i) * 31);
    }
    ring.reader.Consume(n);
    at += n;
    if (n == 0) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ShmRingTest, ImpossibleCountersAreDataLossNotAWildAddress) {
  Ring ring;
  ring.control.read.store(1);  // more than was ever written
  EXPECT_EQ(ring.writer.Space().status().code(), absl::StatusCode::kDataLoss);
  ring.control.written.store(kCapacity + 1);
  EXPECT_EQ(ring.reader.Available().status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace dynatrain::transition
