// Stages where allocations can only be given back, or made, as a whole: by the
// checker on random worlds, and against all orders of the moves of small ones.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/moves.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/stage_testutil.h"
#include "transition/stage/world_memory.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Pointwise;
using vps::Box;

constexpr int64_t kMiB = int64_t{1} << 20;

// Some pieces of each rank in up to three allocations, the others by extents.
std::vector<int> RandomBuffers(size_t num_pieces, std::mt19937_64& random) {
  std::vector<int> buffers;
  for (size_t i = 0; i < num_pieces; ++i) {
    const int buffer = static_cast<int>(random() % 4) - 1;
    buffers.push_back(std::min(buffer, static_cast<int>(num_pieces) - 1));
  }
  return buffers;
}

StageCase RandomWholeCase(int i, std::mt19937_64& random) {
  if (i % 3 == 0) return RandomStageCase(i, random, Granularity::kTensors);
  if (i % 3 == 1) return RandomStageCase(i, random, Granularity::kBuffers);
  StageCase it = RandomStageCase(i, random);
  for (RankMemory& rank : it.memory) {
    if (random() % 4 > 0) {
      rank.source_buffers = RandomBuffers(rank.source.size(), random);
    }
    if (random() % 4 > 0) {
      rank.target_buffers = RandomBuffers(rank.target.size(), random);
    }
  }
  return it;
}

// Whatever is whole: peaks as told, by the checker, within the smallest budget.
TEST(WholePlanTest, TheSmallestBudgetDoes) {
  std::mt19937_64 random = TestRandom(86);
  int staged = 0;
  int proved = 0;
  for (int i = 0; i < NumCases(300, 3000); ++i) {
    const StageCase it = RandomWholeCase(i, random);
    StageOptions options = {
        .mode = StageMode::kTight,
        .budget_bytes = int64_t{1} << 50,
        .port_staging_bytes = int64_t{1} << (20 + random() % 6)};
    const absl::StatusOr<StagePlan> large =
        PlanStages(it.moves, it.memory, options);
    ASSERT_TRUE(large.ok()) << large.status();
    ASSERT_LE(large->budget_bound_bytes, large->smallest_budget_bytes);
    ASSERT_LE(large->limit_bound_bytes, large->smallest_limit_bytes);
    options.budget_bytes = large->smallest_budget_bytes;
    const absl::StatusOr<StagePlan> plan =
        PlanStages(it.moves, it.memory, options);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_THAT(PeaksOf(*plan), Pointwise(Le(), TightLimits(*plan)));
    ASSERT_THAT(CheckStages(it, *plan, random), IsEmpty()) << "case " << i;
    options.limit_bytes = large->smallest_limit_bytes;
    options.budget_bytes = int64_t{1} << 50;
    if (options.limit_bytes == 0) continue;  // empty worlds
    ASSERT_TRUE(PlanStages(it.moves, it.memory, options).ok());
    --options.limit_bytes;
    if (options.limit_bytes > 0) {
      ASSERT_FALSE(PlanStages(it.moves, it.memory, options).ok());
    }
    staged += plan->stages.size() > 1;
    proved += plan->proved_smallest();
  }
  std::cout << staged << " in several stages, " << proved << " proved least\n";
  EXPECT_GT(staged, 10);
  EXPECT_GT(proved, 10);
}

// All orders of single moves, each source allocation given back at once when
// its last reader is done, over sets of moves that are done.
class Oracle {
 public:
  explicit Oracle(const StageCase& it) : case_(it) {
    for (int i = 0; i < static_cast<int>(it.moves.all().size()); ++i) {
      if (!it.moves.all()[i].adopted) moves_.push_back(i);
    }
  }

  int num_moves() const { return static_cast<int>(moves_.size()); }

  // The least limit on all ranks.
  int64_t LeastLimit() const {
    const size_t num_sets = size_t{1} << moves_.size();
    std::vector<int64_t> least(num_sets, std::numeric_limits<int64_t>::max());
    least[0] = Largest(Resident(0, 0));
    for (size_t set = 0; set < num_sets; ++set) {
      for (size_t i = 0; i < moves_.size(); ++i) {
        const size_t next = set | (size_t{1} << i);
        if (next == set) continue;
        least[next] = std::min(
            least[next], std::max({least[set], Largest(Resident(next, set)),
                                   Largest(Resident(next, next))}));
      }
    }
    return least.back();
  }

 private:
  static int64_t Largest(const std::vector<int64_t>& bytes) {
    return *std::max_element(bytes.begin(), bytes.end());
  }

  // When room is made for the moves of one set and those of the other are done.
  std::vector<int64_t> Resident(size_t made, size_t done) const {
    std::vector<int64_t> bytes(case_.memory.size());
    for (size_t rank = 0; rank < bytes.size(); ++rank) {
      bytes[rank] = Source(static_cast<int>(rank), done) +
                    Target(static_cast<int>(rank), made);
    }
    return bytes;
  }

  // An allocation is there until all moves that read it are done, or if it has
  // what is adopted.
  int64_t Source(int rank, size_t done) const {
    const RankMemory& memory = case_.memory[rank];
    std::set<int> needed;
    int64_t all = 0;
    for (size_t i = 0; i < memory.source.size(); ++i) {
      for (const Move& move : case_.moves.all()) {
        const bool reads = move.sender == rank && !move.zero &&
                           Overlaps(move, move.source_copy, memory.source[i]);
        if (reads && (move.adopted || !IsDone(move, done))) {
          needed.insert(memory.source_buffers[i]);
        }
      }
    }
    for (size_t i = 0; i < memory.source.size(); ++i) {
      if (needed.count(memory.source_buffers[i]) == 0) continue;
      all += case_.moves.BytesOf(memory.source[i]);
    }
    return all;
  }

  // What is adopted is counted as source.
  int64_t Target(int rank, size_t made) const {
    const RankMemory& memory = case_.memory[rank];
    std::set<int> touched;
    int64_t all = 0;
    std::vector<bool> adopted(memory.target.size());
    for (size_t i = 0; i < memory.target.size(); ++i) {
      for (const Move& move : case_.moves.all()) {
        if (move.receiver != rank ||
            !Overlaps(move, move.piece.copy, memory.target[i])) {
          continue;
        }
        if (move.adopted) adopted[i] = true;
        if (!move.adopted && IsDone(move, made)) {
          touched.insert(memory.target_buffers[i]);
        }
      }
    }
    for (size_t i = 0; i < memory.target.size(); ++i) {
      if (adopted[i] || touched.count(memory.target_buffers[i]) == 0) continue;
      all += case_.moves.BytesOf(memory.target[i]);
    }
    return all;
  }

  static bool Overlaps(const Move& move, int copy, const Piece& piece) {
    return move.piece.tensor == piece.tensor && copy == piece.copy &&
           vps::Intersect(move.piece.region, piece.region).has_value();
  }

  bool IsDone(const Move& move, size_t set) const {
    const int index = static_cast<int>(&move - case_.moves.all().data());
    for (size_t i = 0; i < moves_.size(); ++i) {
      if (moves_[i] == index) return (set >> i) & 1;
    }
    return false;
  }

  const StageCase& case_;
  std::vector<int> moves_;  // that are not adopted
};

// What is told of the least limit is the truth where it is said to be proved;
// no order of single moves needs less than our tasks.
TEST(WholePlanTest, NoOrderOfMovesNeedsLess) {
  std::mt19937_64 random = TestRandom(87);
  int compared = 0;
  int below_both = 0;
  for (int i = 0; compared < NumCases(60, 600); ++i) {
    const StageCase it = RandomStageCase(
        i, random, i % 4 < 2 ? Granularity::kTensors : Granularity::kBuffers);
    const Oracle oracle(it);
    const bool zeros = std::any_of(it.moves.all().begin(), it.moves.all().end(),
                                   [](const Move& move) { return move.zero; });
    if (zeros || oracle.num_moves() < 2 || oracle.num_moves() > 9) continue;
    const absl::StatusOr<StagePlan> plan =
        PlanStages(it.moves, it.memory,
                   {.mode = StageMode::kTight,
                    .budget_bytes = int64_t{1} << 50,
                    .port_staging_bytes = 0});
    ASSERT_TRUE(plan.ok()) << plan.status();
    int64_t least = oracle.LeastLimit();
    int64_t safe = 0;
    for (const RankPeak& rank : plan->ranks) {
      least = std::max({least, rank.source_bytes, rank.target_bytes});
      safe = std::max(safe, rank.safe_bytes);
    }
    ASSERT_EQ(plan->smallest_limit_bytes, least) << "case " << i;
    ASSERT_EQ(plan->limit_bound_bytes, least) << "case " << i;
    ASSERT_TRUE(plan->proved_smallest());
    ++compared;
    below_both += least < safe;
  }
  std::cout << compared << " compared, " << below_both << " below safe mode\n";
  EXPECT_GT(below_both, 5);
}

// Two ranks swap allocations of 1 GiB and of 2 GiB, which is more than a budget
// of 64 MiB however it is ordered: the first that gets must hold both.
TEST(WholePlanTest, WhatCannotBeIsRefusedWithTheLeastThatCan) {
  const Box box = *Box::Whole({1024});
  const Moves moves =
      *Moves::Create(2, {kMiB, 2 * kMiB},
                     {{.sender = 0, .receiver = 1, .piece = {0, box}},
                      {.sender = 1, .receiver = 0, .piece = {1, box}}});
  const WorldMemory memory = {{.source = {{0, box}},
                               .target = {{1, box}},
                               .source_buffers = {0},
                               .target_buffers = {0}},
                              {.source = {{1, box}},
                               .target = {{0, box}},
                               .source_buffers = {0},
                               .target_buffers = {0}}};
  StageOptions options = {.mode = StageMode::kTight,
                          .budget_bytes = kMinBudgetBytes,
                          .port_staging_bytes = 0};
  // Rank 0 first: it holds 1 + 2 GiB, and the larger of its worlds has 2.
  EXPECT_THAT(
      std::string(PlanStages(moves, memory, options).status().message()),
      HasSubstr("the smallest budget for tight mode is 1073741824, the "
                "smallest limit 3221225472"));
  options.budget_bytes = 1024 * kMiB;
  const StagePlan plan = *PlanStages(moves, memory, options);
  EXPECT_EQ(plan.PeakBytes(), 3 * 1024 * kMiB);
  EXPECT_TRUE(plan.proved_smallest());
  options.limit_bytes = 3 * 1024 * kMiB - 1;
  EXPECT_EQ(PlanStages(moves, memory, options).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(WholePlanTest, CollectivesComeAfterStages) {
  const Box box = *Box::Whole({1024});
  const Moves moves =
      *Moves::Create(3, {1},
                     {{.sender = 0, .receiver = 1, .piece = {0, box}},
                      {.sender = 1,
                       .receiver = 2,
                       .piece = {0, box},
                       .stream = 1,
                       .space = Space::kTarget,
                       .after = 0}});
  WorldMemory memory(3);
  memory[0].source = memory[1].target = memory[2].target = {{0, box}};
  memory[0].source_buffers = {0};
  EXPECT_THAT(std::string(PlanStages(moves, memory, {}).status().message()),
              HasSubstr("then find collectives in each"));
}

}  // namespace
}  // namespace dynatrain::transition
