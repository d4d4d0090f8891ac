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
  UseMoves(ByWayOf(), 0, plan);
  EXPECT_EQ(plan.ranks[2].peak_bytes, 256 * kMiB);
  EXPECT_EQ(RelayRoom(plan, 0), 256 * kMiB);
  UseMoves(moves, 0, plan);
  EXPECT_EQ(RelayRoom(plan, 0), 512 * kMiB);
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

// Looks for collectives in all stages; returns how many stages have some.
int UseCollectives(const ClusterModel& cluster, Execution execution,
                   StagePlan& plan,
                   std::vector<std::vector<Schedule>>& schedules) {
  int with_some = 0;
  for (int i = 0; i < static_cast<int>(plan.stages.size()); ++i) {
    const TransferPlan transfer = *PlanTransfer(
        plan.stages[i].moves, cluster,
        {.schedule = {.execution = execution},
         .collectives = {.min_bytes = 1,
                         .max_staging_bytes = RelayRoom(plan, i)}});
    schedules.push_back(transfer.Schedules());
    if (transfer.ns == transfer.plain_ns) continue;
    ++with_some;
    UseMoves(transfer.moves, i, plan);
  }
  return with_some;
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

// Two ranks hand out all they have in pieces, and get as much from the others.
Subject ScatterAndGather(std::mt19937_64& random) {
  constexpr int kRanks = 12;
  Subject it;
  it.memory.resize(kRanks);
  const int64_t bytes = (8 + static_cast<int64_t>(random() % 16)) * kMiB;
  for (const int root : {0, 5}) {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == root) continue;
      Give(root, rank, NewTensor(root, bytes, it), it);
      Give(rank, root, NewTensor(rank, bytes, it), it);
    }
  }
  return it;
}

// No rank above what it is allowed, by the checker.
TEST(StageCollectivesTest, StagesWithCollectivesHold) {
  std::mt19937_64 random = TestRandom(77);
  int staged = 0;
  for (int i = 0; i < NumCases(60, 1000); ++i) {
    const Subject it = i % 2 == 0 ? Replicas(random) : ScatterAndGather(random);
    const int ranks = static_cast<int>(it.memory.size());
    StageOptions options = {
        .mode = i % 7 == 0 ? StageMode::kSafe : StageMode::kTight,
        .port_staging_bytes = kMiB};
    const Moves moves = *Moves::Create(ranks, it.item_bytes, it.moves);
    options.budget_bytes = int64_t{1} << 50;
    options.budget_bytes =
        PlanStages(moves, it.memory, options)->smallest_budget_bytes;
    StagePlan plan = *PlanStages(moves, it.memory, options);
    // Shorter stages than would fill the budget leave room for relays.
    for (RankPeak& rank : plan.ranks) rank.allowed_bytes += 256 * kMiB;
    const ClusterModel cluster =
        RandomCluster(ranks, i % 2 == 0 ? 2'000 : 1'000'000, random);
    std::vector<std::vector<Schedule>> schedules;
    const int with_some = UseCollectives(
        cluster, i % 3 == 0 ? Execution::kGrouped : Execution::kOrdered, plan,
        schedules);
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
    staged += with_some > 1;
  }
  std::cout << staged << " with collectives in several stages\n";
  EXPECT_GT(staged, 2);
}

}  // namespace
}  // namespace dynatrain::transition
