#include "vps/layout/megatron/vocab.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::HasSubstr;

// MEGATRON_LAYOUT 6.3.
TEST(PadVocab, GivesMegatronsNumbers) {
  struct Row {
    int64_t vocab;
    int64_t tp;
    int64_t padded;
  };
  const Row table[] = {
      {32000, 1, 32000},   {32000, 2, 32000},   {32000, 4, 32256},
      {32000, 8, 32768},   {50257, 1, 50304},   {50257, 2, 50432},
      {50257, 4, 50688},   {50257, 8, 51200},   {128256, 1, 128256},
      {128256, 2, 128256}, {128256, 4, 128512}, {128256, 8, 129024},
      {151936, 1, 151936}, {151936, 2, 152064}, {151936, 4, 152064},
      {151936, 8, 152576}, {129280, 1, 129280}, {129280, 2, 129280},
      {129280, 4, 129536}, {129280, 8, 130048}, {1, 3, 384},
  };
  for (const Row& row : table) {
    EXPECT_EQ(*PadVocab(row.vocab, row.tp), row.padded)
        << row.vocab << " at tp " << row.tp;
  }
  EXPECT_EQ(*PadVocab(100, 3, 1), 102);
}

TEST(PadVocab, RefusesWhatHasNoPadding) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(std::string(PadVocab(0, 1).status().message()),
              HasSubstr("vocabulary of 0 rows"));
  EXPECT_THAT(std::string(PadVocab(1, 0).status().message()),
              HasSubstr("tp 0"));
  EXPECT_FALSE(PadVocab(1, 1, -1).ok());
  EXPECT_THAT(std::string(PadVocab(most, 1).status().message()),
              HasSubstr("63 bits"));
  EXPECT_FALSE(PadVocab(1, most, most).ok());
}

}  // namespace
}  // namespace dynatrain::vps::megatron
