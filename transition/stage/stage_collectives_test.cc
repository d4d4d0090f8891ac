#include "transition/stage/stage_collectives.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/claims.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/transfer_plan.h"
#include "transition/stage/stage_plan.h"
#include "transition/stage/stage_testutil.h"
#include "transition/stage/staged_programs.h"
#include "transition/stage/world_memory.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMiB = int64_t{1} << 20;

// Rank 0 gives 256 MiB to rank 1 by way of rank 2.
Moves ByWayOf() {
  const vps::Box box = *vps::Box::Whole({256});
  return *Moves::Create(3, {kMiB},
                        {{.sender = 0,
                          .receiver = 2,
                          .piece = {0, box},
                          .stream = 1,
                          .into = Space::kStaging},
                         {.sender = 2,
                          .receiver = 1,
                          .piece = {0, box},
                          .stream = 2,
                          .space = Space::kStaging,
                          .after = 0}});
}

TEST(StageCollectivesTest, WhatIsRelayedCountsInPeaks) {
  const vps::Box box = *vps::Box::Whole({256});
  const Moves moves = *Moves::Create(
      3, {kMiB}, {{.sender = 0, .receiver = 1, .piece = {0, box}}});
  StagePlan plan =
      *PlanStages(moves, {{.source = {{0, box}}}, {.target = {{0, box}}}, {}},
                  {.budget_bytes = 512 * kMiB, .port_staging_bytes = 0});
  EXPECT_EQ(RelayRoom(plan, 0), 512 * kMiB);
  EXPECT_THAT(RelayedBytes(ByWayOf()), ElementsAre(0, 0, 256 * kMiB));
  ASSERT_TRUE(UseMoves(ByWayOf(), 0, plan));
  EXPECT_EQ(plan.ranks[2].peak_bytes, 256 * kMiB);
  EXPECT_EQ(RelayRoom(plan, 0), 256 * kMiB);
  ASSERT_TRUE(UseMoves(moves, 0, plan));
  EXPECT_EQ(RelayRoom(plan, 0), 512 * kMiB);
}

// Rank 2 neither sends nor receives until it relays. Of what it packs then, 24
// MiB are in memory that is dead.
TEST(StageCollectivesTest, WhatRelaysPackCountsInPeaks) {
  const vps::Box box = *vps::Box::Whole({256});
  const Moves moves = *Moves::Create(
      3, {kMiB}, {{.sender = 0, .receiver = 1, .piece = {0, box}}});
  StagePlan plan = *PlanStages(moves,
                               {{.source = {{0, box}}},
                                {.target = {{0, box}}},
                                {.dead_bytes = 24 * kMiB}},
                               {.budget_bytes = 512 * kMiB});
  ASSERT_THAT(plan.stages[0].staging_bytes,
              ElementsAre(16 * kMiB, 16 * kMiB, 0));
  // Ranks 0 and 1 could pass on and pack 32 MiB.
  EXPECT_EQ(RelayRoom(plan, 0), 480 * kMiB);
  ASSERT_TRUE(UseMoves(ByWayOf(), 0, plan));
  EXPECT_THAT(plan.stages[0].staging_bytes,
              ElementsAre(16 * kMiB, 16 * kMiB, 8 * kMiB));
  EXPECT_THAT(plan.stages[0].peak_bytes,
              ElementsAre(272 * kMiB, 272 * kMiB, 264 * kMiB));
  EXPECT_EQ(plan.ranks[2].peak_bytes, 264 * kMiB);
  EXPECT_EQ(RelayRoom(plan, 0), 248 * kMiB);
}

TEST(StageCollectivesTest, RefusesWhatIsMoreThanIsAllowed) {
  const vps::Box box = *vps::Box::Whole({256});
  const Moves moves = *Moves::Create(
      3, {kMiB}, {{.sender = 0, .receiver = 1, .piece = {0, box}}});
  StagePlan plan =
      *PlanStages(moves, {{.source = {{0, box}}}, {.target = {{0, box}}}, {}},
                  {.budget_bytes = 512 * kMiB});
  plan.ranks[2].allowed_bytes = 288 * kMiB - 1;
  EXPECT_EQ(RelayRoom(plan, 0), 256 * kMiB - 1);
  EXPECT_FALSE(UseMoves(ByWayOf(), 0, plan));
  EXPECT_THAT(plan.stages[0].peak_bytes,
              ElementsAre(272 * kMiB, 272 * kMiB, 0));
  EXPECT_EQ(RelayedBytes(plan.stages[0].moves)[2], 0);
  plan.ranks[2].allowed_bytes = 288 * kMiB;
  EXPECT_TRUE(UseMoves(ByWayOf(), 0, plan));
}

ClusterModel RandomCluster(int num_ranks, int64_t message_ns,
                           std::mt19937_64& random) {
  const int ranks_per_node = 1 + static_cast<int>(random() % 4);
  return *ClusterModel::Create(
      {.num_nodes = (num_ranks + ranks_per_node - 1) / ranks_per_node,
       .ranks_per_node = ranks_per_node,
       .nics_per_node = random() % 2 == 0 ? 1 : ranks_per_node,
       .inside_bytes_per_second = 200'000'000'000,
       .nic_bytes_per_second = 25'000'000'000,
       .message_ns = message_ns});
}

// What a stage's moves take beside what stays of them, worked out anew: what is
// passed on, and slots for what is sent and received.
std::vector<int64_t> StagingOf(const Stage& stage, const WorldMemory& memory,
                               int64_t port_staging_bytes) {
  std::vector<int64_t> sent(memory.size()), received(memory.size());
  for (const Move& it : stage.moves.all()) {
    if (it.sender == it.receiver) continue;
    sent[it.sender] += stage.moves.BytesOf(it.piece);
    received[it.receiver] += stage.moves.BytesOf(it.piece);
  }
  std::vector<int64_t> staging;
  for (size_t rank = 0; rank < memory.size(); ++rank) {
    const int64_t slots = std::min(sent[rank], port_staging_bytes) +
                          std::min(received[rank], port_staging_bytes);
    staging.push_back(std::max<int64_t>(0, slots - memory[rank].dead_bytes));
  }
  return staging;
}

bool AnyRelays(const Stage& stage) {
  const std::vector<int64_t> relayed = RelayedBytes(stage.moves);
  return std::any_of(relayed.begin(), relayed.end(),
                     [](int64_t bytes) { return bytes > 0; });
}

struct Found {
  int with_collectives = 0;  // stages
  int with_relays = 0;       // of them: through staging memory
  int refused = 0;           // that had no room for them
};

// Looks for collectives in all stages.
Found UseCollectives(const ClusterModel& cluster, Execution execution,
                     StagePlan& plan,
                     std::vector<std::vector<Schedule>>& schedules) {
  Found found;
  for (int i = 0; i < static_cast<int>(plan.stages.size()); ++i) {
    TransferOptions options = {
        .schedule = {.execution = execution},
        .collectives = {.min_bytes = 1,
                        .max_staging_bytes = RelayRoom(plan, i)}};
    TransferPlan transfer =
        *PlanTransfer(plan.stages[i].moves, cluster, options);
    const bool some = transfer.ns < transfer.plain_ns;
    if (some && !UseMoves(transfer.moves, i, plan)) {
      ++found.refused;
      options.collectives.max_ranks = 1;
      transfer = *PlanTransfer(plan.stages[i].moves, cluster, options);
    } else if (some) {
      ++found.with_collectives;
      found.with_relays += AnyRelays(plan.stages[i]);
    }
    schedules.push_back(transfer.Schedules());
  }
  return found;
}

struct Subject {
  std::vector<Move> moves;
  std::vector<int64_t> item_bytes;
  WorldMemory memory;
};

void Give(int sender, int receiver, int tensor, Subject& it) {
  const vps::Box box = *vps::Box::Whole({64});
  it.moves.push_back(
      {.sender = sender, .receiver = receiver, .piece = {tensor, box}});
  it.memory[receiver].target.push_back({tensor, box});
}

int NewTensor(int holder, int64_t bytes, Subject& it) {
  const int tensor = static_cast<int>(it.item_bytes.size());
  it.item_bytes.push_back(bytes / 64);
  it.memory[holder].source.push_back({tensor, *vps::Box::Whole({64})});
  return tensor;
}

// Each tensor goes from who has it to one rank or several others.
Subject Replicas(std::mt19937_64& random) {
  const int ranks = 4 + static_cast<int>(random() % 6);
  Subject it;
  it.memory.resize(ranks);
  for (int i = 0; i < 3 * ranks; ++i) {
    const int holder = static_cast<int>(random() % ranks);
    const int tensor = NewTensor(
        holder, (1 + static_cast<int64_t>(random() % 8)) * 32 * kMiB, it);
    std::vector<int> others;
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank != holder) others.push_back(rank);
    }
    std::shuffle(others.begin(), others.end(), random);
    others.resize(1 + random() % others.size());
    for (const int rank : others) Give(holder, rank, tensor, it);
  }
  return it;
}

// Rank 0 hands out all it has in pieces and gets as much from rank 1 beside it,
// or the other way round.
Subject ScatterOrGather(std::mt19937_64& random) {
  constexpr int kRanks = 24;
  Subject it;
  it.memory.resize(kRanks);
  const int64_t bytes = (8 + static_cast<int64_t>(random() % 16)) * kMiB;
  const bool scatter = random() % 2 == 0;
  const auto give = [&](int sender, int receiver) {
    if (!scatter) std::swap(sender, receiver);
    Give(sender, receiver, NewTensor(sender, bytes, it), it);
  };
  for (int rank = 2; rank < kRanks; ++rank) {
    give(0, rank);
    give(1, 0);
  }
  return it;
}

// No rank above what it is allowed, by the checker, which counts the staging
// that programs reserve: that is what their moves take.
TEST(StageCollectivesTest, StagesWithCollectivesHold) {
  std::mt19937_64 random = TestRandom(77);
  int staged = 0, relayed = 0, refused = 0;
  for (int i = 0; i < NumCases(60, 1000); ++i) {
    Subject it = i % 2 == 0 ? Replicas(random) : ScatterOrGather(random);
    const int ranks = static_cast<int>(it.memory.size());
    for (RankMemory& rank : it.memory) {
      rank.dead_bytes = static_cast<int64_t>(random() % 3) * 8 * kMiB;
    }
    StageOptions options = {
        .mode = i % 7 == 0 ? StageMode::kSafe : StageMode::kTight,
        .port_staging_bytes = kMiB << random() % 5};
    const Moves moves = *Moves::Create(ranks, it.item_bytes, it.moves);
    options.budget_bytes = int64_t{1} << 50;
    options.budget_bytes =
        PlanStages(moves, it.memory, options)->smallest_budget_bytes;
    StagePlan plan = *PlanStages(moves, it.memory, options);
    // Shorter stages than would fill the budget leave room for relays.
    const int64_t room = (i % 5 == 0 ? 4 : 256) * kMiB;
    for (RankPeak& rank : plan.ranks) rank.allowed_bytes += room;
    const ClusterModel cluster =
        RandomCluster(ranks, i % 2 == 0 ? 2'000 : 1'000'000, random);
    std::vector<std::vector<Schedule>> schedules;
    const Found found = UseCollectives(
        cluster, i % 3 == 0 ? Execution::kGrouped : Execution::kOrdered, plan,
        schedules);
    for (const Stage& stage : plan.stages) {
      ASSERT_EQ(stage.staging_bytes,
                StagingOf(stage, it.memory, options.port_staging_bytes))
          << "case " << i;
    }
    Claims claims = {.item_bytes = it.item_bytes};
    for (int rank = 0; rank < ranks; ++rank) {
      ASSERT_LE(plan.ranks[rank].peak_bytes, plan.ranks[rank].allowed_bytes);
      claims.ranks.push_back({.source = it.memory[rank].source,
                              .target = it.memory[rank].target,
                              .limit_bytes = plan.ranks[rank].peak_bytes});
    }
    ASSERT_THAT(CheckPrograms(claims, MakeStagedPrograms(plan, schedules, {})),
                IsEmpty())
        << "case " << i;
    staged += found.with_collectives > 1;
    relayed += found.with_relays > 1;
    refused += found.refused;
  }
  std::cout << staged << " with collectives in several stages, " << relayed
            << " with relays in several; " << refused
            << " stages had no room for theirs\n";
  EXPECT_GT(staged, 2);
  EXPECT_GT(relayed, 2);
}

}  // namespace
}  // namespace dynatrain::transition
