#include "base/fingerprint.h"

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain {
namespace {

std::string RandomBytes(size_t size, std::mt19937_64* random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>((*random)());
  return bytes;
}

// Printed by `xxhsum -H2`: what is written in a status must read the same in
// the next version.
TEST(FingerprintTest, IsXxh3OfTheBytes) {
  EXPECT_EQ(FingerprintOf("").Hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(FingerprintOf("dynatrain").Hex(),
            "d92d7413e551d7852c7577d4aa961914");
}

TEST(FingerprintTest, EveryCutOfTheBytesGivesTheSame) {
  std::mt19937_64 random = TestRandom(1);
  for (size_t size : {0, 1, 7, 63, 64, 240, 241, 1024, 5000}) {
    const std::string bytes = RandomBytes(size, &random);
    for (int trial = 0; trial < 20; ++trial) {
      const size_t cut = random() % (size + 1);
      Fingerprinter f;
      f.AppendRaw(bytes.substr(0, cut)).AppendRaw(bytes.substr(cut));
      EXPECT_EQ(f.Finish(), FingerprintOf(bytes)) << size << " cut at " << cut;
    }
  }
}

TEST(FingerprintTest, EveryFlippedBitShows) {
  std::mt19937_64 random = TestRandom(2);
  std::string bytes = RandomBytes(300, &random);
  std::set<Fingerprint> seen = {FingerprintOf(bytes)};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_TRUE(seen.insert(FingerprintOf(bytes)).second) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

TEST(FingerprinterTest, ValuesAreSelfDelimiting) {
  const auto pair = [](absl::string_view a, absl::string_view b) {
    return Fingerprinter().Append(a).Append(b).Finish();
  };
  EXPECT_NE(pair("ab", "c"), pair("a", "bc"));
  EXPECT_NE(pair("", "a"), pair("a", ""));
}

TEST(FingerprinterTest, AnIntegerCountsByValueNotByWidth) {
  EXPECT_EQ(Fingerprinter().Append(int8_t{5}).Finish(),
            Fingerprinter().Append(uint64_t{5}).Finish());
  EXPECT_EQ(Fingerprinter().Append(int32_t{-1}).Finish(),
            Fingerprinter().Append(int64_t{-1}).Finish());
}

TEST(FingerprinterTest, GoesOnAfterFinishAndAfterAMove) {
  Fingerprinter f;
  f.AppendRaw("dyna");
  EXPECT_EQ(f.Finish(), FingerprintOf("dyna"));
  Fingerprinter moved = std::move(f);
  EXPECT_EQ(moved.AppendRaw("train").Finish(), FingerprintOf("dynatrain"));
}

TEST(FingerprintTest, HexRoundTrips) {
  std::mt19937_64 random = TestRandom(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Fingerprint f{.high = random() >> trial % 64, .low = random()};
    EXPECT_EQ(*Fingerprint::FromHex(f.Hex()), f);
  }
}

TEST(FingerprintTest, RefusesTextThatHexNeverGives) {
  const std::string good = Fingerprint{}.Hex();
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "0", "g" + good.substr(1),
        "A" + good.substr(1), "+" + good.substr(1),
        std::string("\0", 1) + good.substr(1)}) {
    EXPECT_EQ(Fingerprint::FromHex(bad).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad;
  }
}

}  // namespace
}  // namespace dynatrain
