#include "transition/engine/transfer.h"

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/engine/cluster_testutil.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"

namespace dynatrain::transition {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Outcomes = std::map<uint64_t, TestCluster::Outcome>;
using Parts = std::map<uint64_t, TestCluster::Part>;

// Sockets have the process id in their names, so ids are made unique among the
// tests that run at a time. A multiple of 12 keeps members apart as they were.
template <typename Case>
Case WithUniqueIds(Case plan_case, std::mt19937_64& random) {
  const uint64_t base = (random() >> 32) / 12 * 12;
  for (auto* side : {&plan_case.source, &plan_case.target}) {
    for (uint64_t& id : side->ids) id += base;
  }
  return plan_case;
}

// Makes tensors larger than the staging memory now and then.
PlanCase Enlarged(PlanCase plan_case, int64_t factor) {
  for (PlanCase::Tensor& tensor : plan_case.tensors) {
    if (!tensor.shape.empty()) tensor.shape.back() *= factor;
  }
  return plan_case;
}

template <typename Case>
Case Reversed(Case plan_case) {
  std::swap(plan_case.source, plan_case.target);
  return plan_case;
}

// Ranks 0..3 hold 256 rows of `t0` each; afterwards ranks 0..3 as many columns.
//   source: 4 x [256, 1024] by rows    target: 4 x [1024, 256] by columns
// `ranks_per_member` 1: all links are TCP; 4: all are shared memory.
PlanCase RowsToColumns(int ranks_per_member, std::mt19937_64& random) {
  PlanCase plan_case;
  plan_case.axes = {"dp", "tp"};
  plan_case.tensors = {{{1024, 1024}, {{0, 0}, {1, 1}}}};
  plan_case.source = {{4, 1}, {12, 13, 14, 15}};
  plan_case.target = {{1, 4}, {12, 13, 14, 15}};
  plan_case.ranks_per_member = ranks_per_member;
  return WithUniqueIds(plan_case, random);
}

void ExpectStateIs(const PlanInput& input, const Outcomes& outcomes) {
  for (const auto& [id, outcome] : outcomes) {
    ASSERT_TRUE(outcome.report.ok())
        << "process " << id << ": " << outcome.report.status();
    EXPECT_EQ(outcome.target.FirstWrongElement(), "");
    if (!input.target().RankOf(id).has_value()) continue;
    EXPECT_EQ(outcome.report->blobs.at(BlobKind::kCommon), "step 17");
  }
}

// To the target and back, by all processes of both worlds.
template <typename Case>
void MoveThereAndBack(const Case& there, std::mt19937_64& random) {
  SCOPED_TRACE(testing::Message() << there);
  const PlanInput go = MakeInput(there).value();
  const PlanInput back = MakeInput(Reversed(there)).value();
  TestCluster cluster{std::mt19937_64(random())};
  cluster.Start(go.source());
  Outcomes outcomes = cluster.Run(go);
  ASSERT_NO_FATAL_FAILURE(ExpectStateIs(go, outcomes));
  cluster.Commit(go, std::move(outcomes));
  ASSERT_NO_FATAL_FAILURE(ExpectStateIs(back, cluster.Run(back)));
}

TEST(TransferTest, OneBoxPerRankToAnyOtherAndBackIsBitEqual) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 60; ++i) {
    PlanCase there = WithUniqueIds(RandomCase(random), random);
    if (i % 4 == 0) there = Enlarged(there, 500);
    ASSERT_NO_FATAL_FAILURE(MoveThereAndBack(there, random));
  }
}

// Flat shards, copies, blocks, stages, and padding that comes and goes.
TEST(TransferTest, AnyLayoutToAnyOtherAndBackIsBitEqual) {
  std::mt19937_64 random = TestRandom(4);
  for (int i = 0; i < 60; ++i) {
    ASSERT_NO_FATAL_FAILURE(
        MoveThereAndBack(WithUniqueIds(RandomPair(random), random), random));
  }
}

// 4 MiB from each to the other, in rows of 4 KiB: far more than staging memory
// and the sockets' buffers together.
TEST(TransferTest, MoreThanAllBuffersHoldGoesBothWaysAtATime) {
  std::mt19937_64 random = TestRandom(3);
  for (int ranks_per_member : {1, 2}) {
    PlanCase plan_case;
    plan_case.axes = {"dp", "tp"};
    plan_case.tensors = {{{2048, 2048}, {{0, 0}, {1, 1}}}};
    plan_case.source = {{2, 1}, {12, 13}};
    plan_case.target = {{1, 2}, {12, 13}};
    plan_case.ranks_per_member = ranks_per_member;
    const PlanInput input = MakeInput(WithUniqueIds(plan_case, random)).value();
    TestCluster cluster{std::mt19937_64(random())};
    cluster.Start(input.source());
    ASSERT_NO_FATAL_FAILURE(ExpectStateIs(input, cluster.Run(input)));
  }
}

class EachTransportTest : public testing::TestWithParam<int> {
 protected:
  EachTransportTest()
      : random_(TestRandom(2)),
        input_(MakeInput(RowsToColumns(GetParam(), random_)).value()),
        cluster_(std::mt19937_64(random_())) {
    cluster_.Start(input_.source());
    for (int rank = 0; rank < 4; ++rank) {
      before_.push_back(cluster_.member(id(rank)).state.memory());
    }
  }

  uint64_t id(int rank) const { return input_.source().process(rank).id; }
  std::string name(int rank) const {
    return absl::StrCat("process ", id(rank));
  }

  void ExpectSourcesUntouched() {
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(cluster_.member(id(rank)).state.memory(), before_[rank]);
    }
  }

  std::mt19937_64 random_;
  const PlanInput input_;
  TestCluster cluster_;
  std::vector<std::map<TensorState::Key, std::vector<std::byte>>> before_;
};

TEST_P(EachTransportTest, MovesEachByteOnceAndCountsIt) {
  const Outcomes outcomes = cluster_.Run(input_);
  ASSERT_NO_FATAL_FAILURE(ExpectStateIs(input_, outcomes));
  const uint64_t remote_bytes = 1024 * 256 * 4 / 4 * 3;
  for (const auto& [id, outcome] : outcomes) {
    EXPECT_GE(outcome.report->bytes_received, remote_bytes);
    EXPECT_LT(outcome.report->bytes_received, remote_bytes * 1.01);
    EXPECT_GE(outcome.report->bytes_sent, remote_bytes);
    EXPECT_EQ(outcome.report->bytes_copied, 1024 * 256 * 4 / 4);
  }
  ExpectSourcesUntouched();
}

TEST_P(EachTransportTest, ABitFlippedWhileUnpackingIsCaughtAndNamed) {
  Parts parts;
  std::atomic<bool> flipped = false;
  parts[id(2)].hooks.after_unpack = [&](const Route& route,
                                        absl::Span<std::byte> bytes) {
    if (route.source_rank == 1 && !flipped.exchange(true)) {
      bytes[bytes.size() / 2] ^= std::byte{1};
    }
  };
  const Outcomes outcomes = cluster_.Run(input_, std::move(parts));
  const absl::Status status = outcomes.at(id(2)).report.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("t0/param [256:512, 512:768] from rank 1 to rank 2"));
  EXPECT_TRUE(outcomes.at(id(0)).report.ok());
  ExpectSourcesUntouched();
}

TEST_P(EachTransportTest, ABitFlippedInALocalCopyIsCaughtAndNamed) {
  Parts parts;
  parts[id(3)].hooks.after_unpack = [](const Route& route,
                                       absl::Span<std::byte> bytes) {
    if (route.source_rank == 3) bytes[0] ^= std::byte{128};
  };
  const Outcomes outcomes = cluster_.Run(input_, std::move(parts));
  EXPECT_THAT(std::string(outcomes.at(id(3)).report.status().message()),
              HasSubstr("from rank 3 to rank 3"));
}

TEST_P(EachTransportTest, APeerThatGoesMidwayIsNamedByAllOthers) {
  Parts parts;
  // It sends a little of the header, and closes all links.
  parts[id(1)].run = [](Links& links) -> absl::StatusOr<TransferReport> {
    for (auto& [id, link] : links) {
      const std::byte some[10] = {};
      EXPECT_EQ(link->Write(some).value(), 10);
    }
    links.clear();
    return absl::AbortedError("gone");
  };
  const Outcomes outcomes = cluster_.Run(input_, std::move(parts));
  for (int rank : {0, 2, 3}) {
    const absl::Status status = outcomes.at(id(rank)).report.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name(1)));
  }
  ExpectSourcesUntouched();
}

TEST_P(EachTransportTest, AStreamOutOfStepIsRefusedAndNamed) {
  Parts parts;
  parts[id(1)].run = [](Links& links) -> absl::StatusOr<TransferReport> {
    for (auto& [id, link] : links) {
      const std::vector<std::byte> noise(1000, std::byte{42});
      EXPECT_EQ(link->Write(noise).value(), 1000);
    }
    return absl::AbortedError("malicious");
  };
  const Outcomes outcomes = cluster_.Run(input_, std::move(parts));
  const absl::Status status = outcomes.at(id(0)).report.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(name(1)));
  ExpectSourcesUntouched();
}

TEST_P(EachTransportTest, AStalledPeerIsNamedWhenTheDeadlinePasses) {
  Parts parts;
  parts[id(1)].hooks.before_peer = [](uint64_t, uint64_t) { return false; };
  const Outcomes outcomes =
      cluster_.Run(input_, std::move(parts), milliseconds(300));
  for (int rank : {0, 2, 3}) {
    const absl::Status status = outcomes.at(id(rank)).report.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name(1)));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("0 of 262144 bytes received"));
  }
  ExpectSourcesUntouched();
}

TEST_P(EachTransportTest, CancelEndsItAtAnyMomentAndTheSourceIsUntouched) {
  for (uint64_t after_bytes : {0, 1000, 100'000, 200'000}) {
    Parts parts;
    Cancellation cancel;
    for (int rank = 0; rank < 4; ++rank) parts[id(rank)].cancel = &cancel;
    parts[id(1)].hooks.before_peer = [&](uint64_t, uint64_t bytes_sent) {
      if (bytes_sent >= after_bytes) cancel.Cancel("abort of the transition");
      return true;
    };
    // This one would never end by itself.
    parts[id(2)].hooks.before_peer = [](uint64_t, uint64_t) { return false; };
    const Outcomes outcomes = cluster_.Run(input_, std::move(parts));
    for (int rank = 0; rank < 4; ++rank) {
      const absl::Status status = outcomes.at(id(rank)).report.status();
      EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("abort of the transition"));
    }
    ExpectSourcesUntouched();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, EachTransportTest, testing::Values(1, 4),
                         [](const auto& info) {
                           return info.param == 1 ? "Tcp" : "SharedMemory";
                         });

}  // namespace
}  // namespace dynatrain::transition
