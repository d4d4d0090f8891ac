#include "transition/schedule/transfer_plan.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/plan_claims.h"
#include "transition/plan/agreement.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/schedule/cluster_model.h"
#include "transition/schedule/plan_moves.h"
#include "transition/schedule/programs.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vps::Box;

// With a NIC for each rank unless it is said how many.
ClusterModel Nodes(int nodes, int ranks, int nics = 0) {
  return *ClusterModel::Create({.num_nodes = nodes,
                                .ranks_per_node = ranks,
                                .nics_per_node = nics == 0 ? ranks : nics,
                                .inside_bytes_per_second = 200'000'000'000,
                                .nic_bytes_per_second = 25'000'000'000});
}

// Small enough for tests.
TransferOptions Any(Execution execution = Execution::kOrdered) {
  return {.schedule = {.execution = execution, .list = {.unit_bytes = 1}},
          .collectives = {.min_bytes = 0, .min_slot_bytes = 4096}};
}

// What the moves themselves say.
Claims ClaimsOfMoves(const Moves& moves) {
  Claims claims = {
      .item_bytes = {moves.item_bytes().begin(), moves.item_bytes().end()},
      .ranks = std::vector<RankClaims>(moves.num_ranks())};
  std::set<std::pair<int, Piece>> held;
  for (const Move& move : moves.all()) {
    Piece source = move.piece;
    source.copy = move.source_copy;
    if (held.emplace(move.sender, source).second) {
      claims.ranks[move.sender].source.push_back(source);
    }
    claims.ranks[move.receiver].target.push_back(move.piece);
  }
  return claims;
}

Violations Check(const Moves& moves, const TransferPlan& plan) {
  return CheckPrograms(ClaimsOfMoves(moves),
                       MakePrograms(plan.moves, plan.Schedules(), {}));
}

int Chosen(const TransferPlan& plan, CollectiveKind kind) {
  int chosen = 0;
  for (const Collective& it : plan.collectives) {
    chosen += it.kind == kind && it.chosen();
  }
  return chosen;
}

// `bytes` of tensor 0 from rank 0 to each of `receivers`.
Moves SameToAll(int num_ranks, std::vector<int> receivers, int64_t bytes) {
  std::vector<Move> moves;
  for (const int rank : receivers) {
    moves.push_back({0, rank, {0, *Box::Whole({bytes})}});
  }
  return *Moves::Create(num_ranks, {1}, moves);
}

TEST(TransferPlanTest, TheSameToManyIsAChain) {
  const Moves moves = SameToAll(8, {1, 2, 3, 4, 5, 6, 7}, 1 << 28);
  for (const ClusterModel& cluster : {Nodes(8, 1), Nodes(2, 4), Nodes(1, 8)}) {
    const TransferPlan plan = *PlanTransfer(moves, cluster);
    EXPECT_EQ(Chosen(plan, CollectiveKind::kBroadcast), 1)
        << plan.DebugString();
    EXPECT_LT(plan.ns, plan.plain_ns / 3) << plan.DebugString();
    EXPECT_THAT(Check(moves, plan), IsEmpty());
  }
  EXPECT_THAT(PlanTransfer(moves, Nodes(2, 4))->DebugString(),
              HasSubstr("broadcast of 1879048192 bytes among 8 ranks"));
}

// Each rank of node 0 has a shard for its like on 7 new nodes: 8 broadcasts
// that share no rank. With one NIC for a node they go one after the other.
TEST(TransferPlanTest, CollectivesWaitForTheNicTheyShare) {
  constexpr int kRanks = 8;
  constexpr int64_t kBytes = 1 << 28;
  std::vector<Move> all;
  for (int rank = kRanks; rank < 8 * kRanks; ++rank) {
    const int local = rank % kRanks;
    all.push_back({local, rank, {0, *Box::Create({local * kBytes}, {kBytes})}});
  }
  const Moves moves = *Moves::Create(8 * kRanks, {1}, all);
  for (const int nics : {1, 2, 4, 8}) {
    const ClusterModel cluster = Nodes(8, kRanks, nics);
    const TransferPlan plan = *PlanTransfer(moves, cluster);
    EXPECT_EQ(Chosen(plan, CollectiveKind::kBroadcast), kRanks)
        << plan.DebugString();
    const int64_t copy_ns =
        TransferNs(kBytes, cluster.figures().nic_bytes_per_second);
    EXPECT_GE(plan.ns, kRanks / nics * copy_ns) << plan.DebugString();
    EXPECT_LT(plan.ns, kRanks / nics * copy_ns * 3 / 2) << plan.DebugString();
    EXPECT_THAT(Check(moves, plan), IsEmpty());
  }
}

// Two broadcasts that meet in nothing but the NIC by which the last ranks of
// both, 12 and 13, receive.
TEST(TransferPlanTest, CollectivesWaitForTheNicThatReceives) {
  constexpr int64_t kBytes = 1 << 28;
  std::vector<Move> all;
  for (const int rank : {2, 4, 12}) {
    all.push_back({0, rank, {0, *Box::Create({0}, {kBytes})}});
  }
  for (const int rank : {8, 10, 13}) {
    all.push_back({6, rank, {0, *Box::Create({kBytes}, {kBytes})}});
  }
  const ClusterModel cluster = Nodes(7, 2, 1);
  const TransferPlan plan =
      *PlanTransfer(*Moves::Create(14, {1}, all), cluster);
  EXPECT_EQ(Chosen(plan, CollectiveKind::kBroadcast), 2) << plan.DebugString();
  EXPECT_GE(plan.ns,
            2 * TransferNs(kBytes, cluster.figures().nic_bytes_per_second));
}

// Over the network each node gets the bytes once.
TEST(TransferPlanTest, ANodeIsEnteredOnce) {
  const Moves moves = SameToAll(12, {4, 5, 6, 7, 8, 9, 10, 11}, 1 << 20);
  const ClusterModel cluster = Nodes(3, 4);
  const TransferPlan plan = *PlanTransfer(moves, cluster, Any());
  std::map<int, int64_t> entered;
  for (const Move& move : plan.moves.all()) {
    if (cluster.LaneOf(move.sender, move.receiver) == Lane::kBetween) {
      entered[cluster.NodeOf(move.receiver)] += plan.moves.BytesOf(move.piece);
    }
  }
  EXPECT_EQ(entered, (std::map<int, int64_t>{{1, 1 << 20}, {2, 1 << 20}}));
}

// One hop costs nothing more than a message: two ranks, or few bytes, are sent.
TEST(TransferPlanTest, WhatCostsLessStaysAsItIs) {
  const ClusterModel cluster = Nodes(8, 1);
  const Moves one = SameToAll(8, {1}, 1 << 28);
  EXPECT_THAT(PlanTransfer(one, cluster)->collectives, IsEmpty());
  const Moves few = SameToAll(8, {1, 2, 3}, 1 << 10);
  const TransferPlan plain = *PlanTransfer(few, cluster);
  ASSERT_EQ(plain.collectives.size(), 1);
  EXPECT_THAT(plain.DebugString(),
              HasSubstr("no collective: 3072 bytes; it takes 33554432"));
  // Considered, and compared: a chain of three needs three latencies.
  const TransferPlan compared = *PlanTransfer(few, cluster, Any());
  EXPECT_EQ(Chosen(compared, CollectiveKind::kBroadcast), 0);
  EXPECT_EQ(compared.collectives[0].costs.ways.size(), 2);
  EXPECT_EQ(compared.moves.all(), few.all());
  EXPECT_EQ(compared.ns, compared.plain_ns);
}

// Different bytes from rank 0 to each of 120 ranks on 15 other nodes, or back.
Moves OneAndMany(bool scatter, int64_t bytes) {
  std::vector<Move> moves;
  for (int rank = 8; rank < 128; ++rank) {
    moves.push_back({scatter ? 0 : rank,
                     scatter ? rank : 0,
                     {0, *Box::Create({rank * bytes}, {bytes})}});
  }
  return *Moves::Create(128, {1}, moves);
}

TEST(TransferPlanTest, OneToManyGoesByNodeWherePiecesAreSmall) {
  for (const bool scatter : {true, false}) {
    const CollectiveKind kind =
        scatter ? CollectiveKind::kScatter : CollectiveKind::kGather;
    for (const Execution execution :
         {Execution::kOrdered, Execution::kGrouped}) {
      const Moves small = OneAndMany(scatter, 4096);
      const TransferPlan plan =
          *PlanTransfer(small, Nodes(16, 8), Any(execution));
      EXPECT_EQ(Chosen(plan, kind), 1) << plan.DebugString();
      EXPECT_LT(plan.ns, plan.plain_ns);
      EXPECT_THAT(Check(small, plan), IsEmpty());
      const TransferPlan large = *PlanTransfer(OneAndMany(scatter, 64 << 20),
                                               Nodes(16, 8), Any(execution));
      EXPECT_EQ(Chosen(large, kind), 0) << large.DebugString();
    }
  }
}

// From rank 3 of a node to all ranks of others: by those on its rail.
TEST(TransferPlanTest, NodesAreEnteredOnTheSameRail) {
  std::vector<Move> all;
  for (int rank = 8; rank < 128; ++rank) {
    all.push_back({3, rank, {0, *Box::Create({rank * int64_t{4096}}, {4096})}});
  }
  const ClusterModel cluster = Nodes(16, 8);
  const TransferPlan plan =
      *PlanTransfer(*Moves::Create(128, {1}, all), cluster, Any());
  EXPECT_EQ(Chosen(plan, CollectiveKind::kScatter), 1) << plan.DebugString();
  for (const Move& move : plan.moves.all()) {
    if (cluster.LaneOf(move.sender, move.receiver) == Lane::kInside) continue;
    EXPECT_EQ(move.receiver % 8, 3);
  }
}

// Who gets something of its own in a scatter and the same as others in a
// broadcast gets each once.
TEST(TransferPlanTest, WhatIsBroadcastIsNotScattered) {
  const Moves small = OneAndMany(/*scatter=*/true, 4096);
  std::vector<Move> all(small.all().begin(), small.all().end());
  const Box large = *Box::Create({1 << 30}, {1 << 26});
  for (const int rank : {8, 16, 24, 32}) all.push_back({0, rank, {0, large}});
  const Moves moves = *Moves::Create(128, {1}, all);
  const TransferPlan plan = *PlanTransfer(moves, Nodes(16, 8), Any());
  EXPECT_EQ(Chosen(plan, CollectiveKind::kBroadcast), 1) << plan.DebugString();
  EXPECT_EQ(Chosen(plan, CollectiveKind::kScatter), 1) << plan.DebugString();
  EXPECT_THAT(Check(moves, plan), IsEmpty());
}

// Two ranks of a node get the same, and each of them twice: four times in one
// buffer.
TEST(TransferPlanTest, TheSameForSeveralIsHandedOutSeveralTimes) {
  std::vector<Move> all;
  for (int rank = 8; rank < 128; ++rank) {
    const Box box = *Box::Create({rank / 2 * int64_t{4096}}, {4096});
    for (const int copy : {0, 1}) {
      all.push_back({.sender = 0, .receiver = rank, .piece = {0, box, copy}});
    }
  }
  const Moves moves = *Moves::Create(128, {1}, all);
  const TransferPlan plan = *PlanTransfer(moves, Nodes(16, 8), Any());
  EXPECT_EQ(Chosen(plan, CollectiveKind::kScatter), 1) << plan.DebugString();
  EXPECT_EQ(Chosen(plan, CollectiveKind::kBroadcast), 0);
  EXPECT_THAT(Check(moves, plan), IsEmpty());
}

Moves EachToEach(int num_ranks, int64_t bytes) {
  std::vector<Move> moves;
  for (int from = 0; from < num_ranks; ++from) {
    for (int to = 0; to < num_ranks; ++to) {
      const int64_t at = (int64_t{from} * num_ranks + to) * bytes;
      moves.push_back({from, to, {0, *Box::Create({at}, {bytes})}});
    }
  }
  return *Moves::Create(num_ranks, {1}, moves);
}

TEST(TransferPlanTest, AllToAllGoesByNodeWhereMessagesAreSmall) {
  const ClusterModel cluster = Nodes(8, 8);
  const Moves small = EachToEach(64, 256);
  const TransferPlan plan = *PlanTransfer(small, cluster, Any());
  EXPECT_EQ(Chosen(plan, CollectiveKind::kAllToAll), 1) << plan.DebugString();
  EXPECT_LT(plan.ns, plan.plain_ns);
  EXPECT_THAT(Check(small, plan), IsEmpty());
  const Moves large = EachToEach(64, 8 << 20);
  EXPECT_EQ(
      Chosen(*PlanTransfer(large, cluster, Any()), CollectiveKind::kAllToAll),
      0);
}

// One pair of ranks with a tenth more is enough.
TEST(TransferPlanTest, AnUnevenExchangeIsNoAllToAll) {
  const Moves even = EachToEach(64, 256);
  std::vector<Move> all(even.all().begin(), even.all().end());
  all.push_back({0, 63, {0, *Box::Create({64 * 64 * 256}, {26})}});
  const Moves moves = *Moves::Create(64, {1}, all);
  const TransferPlan plan = *PlanTransfer(moves, Nodes(8, 8), Any());
  for (const Collective& it : plan.collectives) {
    EXPECT_NE(it.kind, CollectiveKind::kAllToAll);
  }
}

TEST(TransferPlanTest, StagingMemoryIsBounded) {
  TransferOptions options = Any();
  options.collectives.max_staging_bytes = 1000;
  const TransferPlan plan =
      *PlanTransfer(OneAndMany(true, 4096), Nodes(16, 8), options);
  EXPECT_EQ(Chosen(plan, CollectiveKind::kScatter), 0);
  EXPECT_THAT(plan.DebugString(), HasSubstr("28672 bytes to be held for others "
                                            "on one rank; it may hold 1000"));
}

// Each two of ten ranks get something of their own from rank 0: 45 collectives
// with one root, of which the largest 24 are done.
TEST(TransferPlanTest, NoRankIsInTooManyCollectives) {
  std::vector<Move> all;
  int64_t at = 0;
  for (int a = 1; a <= 10; ++a) {
    for (int b = a + 1; b <= 10; ++b) {
      const int64_t bytes = (1 << 26) + at / 64;
      for (const int rank : {a, b}) {
        all.push_back({0, rank, {0, *Box::Create({at}, {bytes})}});
      }
      at += bytes;
    }
  }
  const Moves moves = *Moves::Create(11, {1}, all);
  const TransferPlan plan = *PlanTransfer(moves, Nodes(11, 1), Any());
  EXPECT_EQ(plan.collectives.size(), 45);
  EXPECT_EQ(Chosen(plan, CollectiveKind::kBroadcast), 24);
  std::vector<int64_t> done, left;
  for (const Collective& it : plan.collectives) {
    (it.chosen() ? done : left).push_back(it.bytes);
  }
  EXPECT_GT(*std::min_element(done.begin(), done.end()),
            *std::max_element(left.begin(), left.end()));
  EXPECT_THAT(plan.DebugString(), HasSubstr("is in 24 that save more"));
  EXPECT_THAT(Check(moves, plan), IsEmpty());
}

// Planner, collectives, schedules and emission against the checker: random
// worlds on random clusters, on which anything that wins at all is chosen.
TEST(TransferPlanTest, TheCheckerAcceptsEachPlan) {
  std::mt19937_64 random = TestRandom(72);
  std::map<CollectiveKind, int> chosen;
  for (int i = 0; i < 600; ++i) {
    const PlanInput input = i % 2 == 0 ? *MakeInput(RandomCase(random))
                                       : *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    const Moves moves = *MovesOf(input);
    const int per_node = 1 + static_cast<int>(random() % 5);
    const int nics = 1 + static_cast<int>(random() % per_node);
    const int nodes = (moves.num_ranks() + per_node - 1) / per_node;
    // Bytes are few, so only where they are dear and the rest is free does a
    // chain win.
    const ClusterModel cluster = *ClusterModel::Create(
        {.num_nodes = nodes,
         .ranks_per_node = per_node,
         .nics_per_node = nics,
         .inside_bytes_per_second = 4'000'000,
         .nic_bytes_per_second = 1'000'000,
         .inside_latency_ns = 0,
         .nic_latency_ns = 0,
         .message_ns = static_cast<int64_t>(random() % 2) * 10'000,
         .group_ns = 0});
    const TransferPlan plan = *PlanTransfer(
        moves, cluster,
        Any(i % 3 == 0 ? Execution::kGrouped : Execution::kOrdered));
    for (const Collective& it : plan.collectives) {
      if (it.chosen()) ++chosen[it.kind];
    }
    EXPECT_LE(plan.ns, plan.plain_ns);
    ASSERT_THAT(CheckPrograms(ClaimsOf(input),
                              MakePrograms(plan.moves, plan.Schedules(),
                                           input.AgreementDigest())),
                IsEmpty())
        << "case " << i << "\n"
        << plan.DebugString();
  }
  for (const auto& [kind, count] : chosen) {
    std::cout << CollectiveKindName(kind) << ": " << count << "\n";
  }
  EXPECT_GT(chosen[CollectiveKind::kBroadcast], 20);
}

// Two ranks that make it by themselves, from moves in another order.
TEST(TransferPlanTest, IsTheSameOnAllRanks) {
  const Moves moves = SameToAll(64, {9, 10, 17, 18, 25, 33, 60, 61}, 1 << 26);
  std::vector<Move> shuffled(moves.all().begin(), moves.all().end());
  std::mt19937_64 random = TestRandom(73);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const Moves others = *Moves::Create(64, {1}, shuffled);
  const TransferPlan here = *PlanTransfer(moves, Nodes(8, 8));
  const TransferPlan there = *PlanTransfer(others, Nodes(8, 8));
  EXPECT_EQ(Chosen(here, CollectiveKind::kBroadcast), 1);
  EXPECT_EQ(here.Digest(), there.Digest());
  EXPECT_EQ(here.moves.all(), there.moves.all());
  EXPECT_EQ(here.DebugString(), there.DebugString());
  // Another cluster makes another plan.
  EXPECT_NE(here.Digest(), PlanTransfer(moves, Nodes(64, 1))->Digest());
}

// Ranks that differ in any figure or option differ in what they compare first.
TEST(TransferPlanTest, TheAgreementCoversAllFiguresAndOptions) {
  const Agreement plan;
  std::set<Fingerprint> digests;
  int made = 0;
  const auto add = [&](const ClusterFigures& figures,
                       const TransferOptions& options, const Agreement& of) {
    digests.insert(
        TransferAgreement(of, *ClusterModel::Create(figures), options)
            .Digest());
    ++made;
  };
  const ClusterFigures figures = {.inside_bytes_per_second = 200'000'000'000,
                                  .nic_bytes_per_second = 25'000'000'000};
  const auto figure = [&](auto change) {
    ClusterFigures changed = figures;
    change(changed);
    add(changed, {}, plan);
  };
  const auto option = [&](auto change) {
    TransferOptions changed;
    change(changed.schedule, changed.collectives);
    add(figures, changed, plan);
  };
  add(figures, {}, plan);
  add(figures, {},
      Agreement().Set(AgreedPart::kSenders, FingerprintOf("another")));
  figure([](ClusterFigures& f) { ++f.num_nodes; });
  figure([](ClusterFigures& f) { f.ranks_per_node = 4; });
  figure([](ClusterFigures& f) { f.nics_per_node = 4; });
  figure([](ClusterFigures& f) { ++f.inside_bytes_per_second; });
  figure([](ClusterFigures& f) { ++f.nic_bytes_per_second; });
  figure([](ClusterFigures& f) { ++f.inside_latency_ns; });
  figure([](ClusterFigures& f) { ++f.nic_latency_ns; });
  figure([](ClusterFigures& f) { ++f.message_ns; });
  figure([](ClusterFigures& f) { ++f.group_ns; });
  figure([](ClusterFigures& f) { --f.max_group_operations; });
  using S = ScheduleOptions;
  using C = CollectiveOptions;
  option([](S& s, C&) { s.execution = Execution::kGrouped; });
  option([](S& s, C&) { ++s.list.slack_ppm; });
  option([](S& s, C&) { ++s.list.unit_bytes; });
  option([](S& s, C&) { ++s.slot_bytes; });
  option([](S& s, C&) { ++s.max_window_bytes; });
  option([](S& s, C&) { ++s.max_list_ranks; });
  option([](S& s, C&) { ++s.max_list_flows; });
  option([](S&, C& c) { ++c.min_ranks; });
  option([](S&, C& c) { ++c.min_bytes; });
  option([](S&, C& c) { ++c.min_slot_bytes; });
  option([](S&, C& c) { ++c.max_slot_bytes; });
  option([](S&, C& c) { ++c.max_staging_bytes; });
  option([](S&, C& c) { ++c.max_ranks; });
  option([](S&, C& c) { ++c.max_parcels; });
  EXPECT_EQ(digests.size(), made);
  add(figures, {}, plan);
  EXPECT_EQ(digests.size(), made - 1);  // the same again
}

TEST(TransferPlanTest, TooManyRanksAreNotLookedAt) {
  TransferOptions options = Any();
  options.collectives.max_ranks = 7;
  const Moves moves = SameToAll(8, {1, 2, 3, 4, 5, 6, 7}, 1 << 28);
  EXPECT_THAT(PlanTransfer(moves, Nodes(8, 1), options)->collectives,
              IsEmpty());
}

TEST(TransferPlanTest, RefusesWhatMakesNoSense) {
  const Moves moves = SameToAll(8, {1}, 8);
  const auto error = [&](const CollectiveOptions& options) {
    return std::string(
        PlanTransfer(moves, Nodes(8, 1), {.collectives = options})
            .status()
            .message());
  };
  EXPECT_THAT(error({.min_ranks = 2}), HasSubstr("min_ranks is 2"));
  EXPECT_THAT(error({.min_bytes = -1}), HasSubstr("min_bytes is -1"));
  EXPECT_THAT(error({.min_slot_bytes = 0}), HasSubstr("min_slot_bytes is 0"));
  EXPECT_THAT(error({.min_slot_bytes = 9000, .max_slot_bytes = 8000}),
              HasSubstr("min_slot_bytes is 9000; it must be 4096 to 8000"));
  EXPECT_THAT(error({.max_staging_bytes = -1}), HasSubstr("max_staging_bytes"));
  EXPECT_THAT(error({.max_ranks = -1}), HasSubstr("max_ranks is -1"));
  EXPECT_THAT(error({.max_parcels = 0}), HasSubstr("max_parcels is 0"));
  EXPECT_THAT(PlanTransfer(moves, Nodes(4, 1)).status().message(),
              HasSubstr("among 8 ranks, the cluster has 4"));
  const Moves twice =
      PlanTransfer(SameToAll(8, {1, 2, 3, 4}, 1 << 28), Nodes(8, 1))->moves;
  EXPECT_THAT(PlanTransfer(twice, Nodes(8, 1)).status().message(),
              HasSubstr("moves have collectives already"));
  const auto with_relay = [&](Space space, Space into) {
    Move relay = moves.all()[0];
    relay.sender = 1;
    relay.receiver = 2;
    relay.space = space;
    relay.after = space == Space::kSource ? -1 : 0;
    relay.into = into;
    const Moves relayed = *moves.With({moves.all()[0], relay});
    return std::string(PlanTransfer(relayed, Nodes(8, 1)).status().message());
  };
  EXPECT_THAT(with_relay(Space::kSource, Space::kTarget), IsEmpty());
  EXPECT_THAT(with_relay(Space::kTarget, Space::kTarget),
              HasSubstr("moves pass on what was received already: target into "
                        "target memory from rank 1 to rank 2"));
  EXPECT_THAT(with_relay(Space::kSource, Space::kStaging),
              HasSubstr("source into staging memory"));
}

}  // namespace
}  // namespace dynatrain::transition
