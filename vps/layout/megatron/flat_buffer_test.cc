#include "vps/layout/megatron/flat_buffer.h"

#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// emb proj qkv.ln qkv fc1.ln fc1 fc2 fln out, of MEGATRON_LAYOUT 6.7.
std::vector<FlatParameter> Golden(bool shared) {
  std::vector<FlatParameter> parameters;
  for (int64_t n : {3072, 576, 24, 1728, 24, 2400, 1200, 24, 3072}) {
    parameters.push_back({.elements = n});
  }
  parameters.front().shared_embedding = shared;
  parameters.back().shared_embedding = shared;
  return parameters;
}

TEST(FlatBuffer, GoldenA_OneBucketThreePieces) {
  const FlatBuffer buffer = *FlatBuffer::Create(Golden(false), {.pieces = 3});
  EXPECT_THAT(buffer.slots(),
              ElementsAre(FlatSlot{9216, 12288, 0}, FlatSlot{8640, 9216, 0},
                          FlatSlot{8576, 8600, 0}, FlatSlot{6848, 8576, 0},
                          FlatSlot{6784, 6808, 0}, FlatSlot{4352, 6752, 0},
                          FlatSlot{3136, 4336, 0}, FlatSlot{3072, 3096, 0},
                          FlatSlot{0, 3072, 0}));
  EXPECT_THAT(buffer.buckets(), ElementsAre(FlatBucket{0, 12288, 12288}));
  EXPECT_EQ(buffer.ShardElements(0), 4096);
}

TEST(FlatBuffer, GoldenB_SmallBucketsFourPieces) {
  const FlatBuffer buffer =
      *FlatBuffer::Create(Golden(false), {.pieces = 4, .bucket_size = 3000});
  EXPECT_THAT(buffer.buckets(), ElementsAre(FlatBucket{0, 3072, 3072},
                                            FlatBucket{3072, 6784, 3680},
                                            FlatBucket{6784, 12288, 5504}));
  EXPECT_THAT(buffer.slots(),
              ElementsAre(FlatSlot{9216, 12288, 2}, FlatSlot{8640, 9216, 2},
                          FlatSlot{8576, 8600, 2}, FlatSlot{6848, 8576, 2},
                          FlatSlot{6784, 6808, 2}, FlatSlot{4352, 6752, 1},
                          FlatSlot{3136, 4336, 1}, FlatSlot{3072, 3096, 1},
                          FlatSlot{0, 3072, 0}));
}

TEST(FlatBuffer, GoldenC_SharedEmbeddingsSixPieces) {
  const FlatBuffer buffer =
      *FlatBuffer::Create(Golden(true), {.pieces = 6, .bucket_size = 3000});
  EXPECT_THAT(buffer.slots(),
              ElementsAre(FlatSlot{9600, 12672, 3}, FlatSlot{8768, 9344, 2},
                          FlatSlot{8704, 8728, 2}, FlatSlot{6976, 8704, 2},
                          FlatSlot{6912, 6936, 2}, FlatSlot{4352, 6752, 1},
                          FlatSlot{3136, 4336, 1}, FlatSlot{3072, 3096, 1},
                          FlatSlot{0, 3072, 0}));
  EXPECT_THAT(
      buffer.buckets(),
      ElementsAre(FlatBucket{0, 3072, 3072}, FlatBucket{3072, 6912, 3680},
                  FlatBucket{6912, 9600, 2432}, FlatBucket{9600, 12672, 3072}));
}

TEST(FlatBuffer, GoldenD_SharedEmbeddingsHighBandwidth) {
  const FlatBuffer buffer = *FlatBuffer::Create(
      Golden(true), {.pieces = 4, .pad_for_high_bandwidth = true});
  EXPECT_THAT(buffer.slots(),
              ElementsAre(FlatSlot{131072, 134144, 2},
                          FlatSlot{71104, 71680, 1}, FlatSlot{71040, 71064, 1},
                          FlatSlot{69312, 71040, 1}, FlatSlot{69248, 69272, 1},
                          FlatSlot{66816, 69216, 1}, FlatSlot{65600, 66800, 1},
                          FlatSlot{65536, 65560, 1}, FlatSlot{0, 3072, 0}));
  EXPECT_THAT(buffer.buckets(), ElementsAre(FlatBucket{0, 65536, 3072},
                                            FlatBucket{65536, 131072, 6144},
                                            FlatBucket{131072, 196608, 3072}));
}

// Megatron pads the start of a parameter before it asks whether a new bucket is
// due, so the bucket before has that padding as its own.
TEST(FlatBuffer, PaddingBeforeASharedEmbeddingIsOfTheBucketBefore) {
  const FlatBuffer buffer = *FlatBuffer::Create(
      {{.elements = 10, .shared_embedding = true}, {.elements = 100}},
      {.pieces = 1});
  EXPECT_THAT(buffer.buckets(),
              ElementsAre(FlatBucket{0, 128, 128}, FlatBucket{128, 256, 10}));
}

TEST(FlatBuffer, WithoutTheDistributedOptimizerNothingIsPadded) {
  const FlatBuffer buffer = *FlatBuffer::Create(
      Golden(true),
      {.pieces = 4, .bucket_size = 3000, .distributed_optimizer = false});
  EXPECT_THAT(buffer.buckets(), ElementsAre(FlatBucket{0, 3072, 3072},
                                            FlatBucket{3072, 6696, 3624},
                                            FlatBucket{6696, 12120, 5424}));
  EXPECT_EQ(buffer.slot(0), (FlatSlot{9048, 12120, 2}));
  EXPECT_EQ(buffer.elements(), 12120);
}

TEST(FlatBuffer, OfNothingIsEmpty) {
  const FlatBuffer buffer = *FlatBuffer::Create({}, {});
  EXPECT_EQ(buffer.elements(), 0);
  EXPECT_TRUE(buffer.buckets().empty());
}

TEST(FlatBuffer, RefusesWhatIsOutOfBounds) {
  const auto why = [](std::vector<FlatParameter> parameters,
                      FlatBufferOptions options) {
    return std::string(
        FlatBuffer::Create(parameters, options).status().message());
  };
  EXPECT_THAT(why({{.elements = 1}, {.elements = 0}}, {}),
              HasSubstr("parameter 1 of a flat buffer has 0 elements"));
  EXPECT_THAT(why({}, {.pieces = 0}), HasSubstr("cut in 0 pieces"));
  EXPECT_THAT(why({}, {.bucket_size = 0}), HasSubstr("bucket_size is 0"));
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(why({{.elements = 1}, {.elements = most}}, {}),
              HasSubstr("up to parameter 1"));
  EXPECT_THAT(why({{.elements = most}}, {.pieces = 1 << 20}),
              HasSubstr("up to parameter 0"));
}

struct FlatCase {
  std::vector<FlatParameter> parameters;
  FlatBufferOptions options;

  friend std::ostream& operator<<(std::ostream& out, const FlatCase& it) {
    for (const FlatParameter& parameter : it.parameters) {
      out << parameter.elements << (parameter.shared_embedding ? "s " : " ");
    }
    return out << "in " << it.options.pieces << " pieces, bucket_size "
               << it.options.bucket_size.value_or(0) << ", distributed "
               << it.options.distributed_optimizer << ", high bandwidth "
               << it.options.pad_for_high_bandwidth;
  }
};

FlatCase RandomFlat(std::mt19937_64& random) {
  FlatCase it;
  it.parameters.resize(random() % 12 + 1);
  for (FlatParameter& parameter : it.parameters) {
    parameter = {.elements = static_cast<int64_t>(random() % 700 + 1),
                 .shared_embedding = random() % 5 == 0};
  }
  it.options = {.pieces = static_cast<int64_t>(random() % 12 + 1),
                .distributed_optimizer = random() % 4 != 0,
                .pad_for_high_bandwidth = random() % 4 == 0};
  if (random() % 2 == 0) it.options.bucket_size = random() % 2000 + 1;
  return it;
}

std::vector<FlatCase> SmallerFlat(const FlatCase& it) {
  std::vector<FlatCase> smaller;
  for (size_t p = 0; p < it.parameters.size(); ++p) {
    auto& fewer = smaller.emplace_back(it).parameters;
    fewer.erase(fewer.begin() + p);
  }
  for (size_t p = 0; p < it.parameters.size(); ++p) {
    const int64_t elements = it.parameters[p].elements;
    for (const int64_t less : {elements / 2, elements - 1}) {
      if (less < 1) continue;
      smaller.emplace_back(it).parameters[p].elements = less;
    }
    if (!it.parameters[p].shared_embedding) continue;
    smaller.emplace_back(it).parameters[p].shared_embedding = false;
  }
  if (it.options.pieces > 1) --smaller.emplace_back(it).options.pieces;
  if (it.options.bucket_size.has_value()) {
    smaller.emplace_back(it).options.bucket_size.reset();
  }
  if (it.options.pad_for_high_bandwidth) {
    smaller.emplace_back(it).options.pad_for_high_bandwidth = false;
  }
  return smaller;
}

void ExpectLawsOfSlots(const FlatCase& it, const FlatBuffer& buffer) {
  int64_t previous_end = 0;
  for (size_t p = it.parameters.size(); p-- > 0;) {
    const FlatSlot& slot = buffer.slot(p);
    EXPECT_EQ(slot.end - slot.begin, it.parameters[p].elements);
    EXPECT_GE(slot.begin, previous_end);
    previous_end = slot.end;
    const FlatBucket& bucket = buffer.buckets()[slot.bucket];
    EXPECT_GE(slot.begin, bucket.begin);
    EXPECT_LE(slot.end, bucket.begin + bucket.unpadded);
    if (!it.options.distributed_optimizer) continue;
    EXPECT_EQ(slot.begin % 64, 0);
    if (!it.parameters[p].shared_embedding) continue;
    EXPECT_EQ(slot.begin, bucket.begin);
    EXPECT_EQ(slot.end, bucket.begin + bucket.unpadded);
  }
}

void ExpectLawsOfBuckets(const FlatCase& it, const FlatBuffer& buffer) {
  int64_t next = 0;
  for (size_t b = 0; b < buffer.buckets().size(); ++b) {
    const FlatBucket& bucket = buffer.buckets()[b];
    EXPECT_EQ(bucket.begin, next);
    next = bucket.end;
    if (!it.options.distributed_optimizer) {
      EXPECT_EQ(bucket.unpadded, bucket.end - bucket.begin);
      continue;
    }
    EXPECT_EQ(bucket.begin % 128, 0);
    EXPECT_EQ(buffer.ShardElements(b) * it.options.pieces,
              bucket.end - bucket.begin);
  }
  EXPECT_EQ(buffer.elements(), next);
}

// The laws that Megatron asserts, and those that make a shard of one.
TEST(FlatBuffer, KeepsItsLaws) {
  auto random = TestRandom();
  for (int i = 0; i < 2000; ++i) {
    CheckShrunk(RandomFlat(random), SmallerFlat, [](const FlatCase& it) {
      const auto buffer = FlatBuffer::Create(it.parameters, it.options);
      ASSERT_EQ(buffer.status(), absl::OkStatus());
      ExpectLawsOfSlots(it, *buffer);
      ExpectLawsOfBuckets(it, *buffer);
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dynatrain::vps::megatron
