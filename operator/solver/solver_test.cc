// The solver against brute force: all 5-tuples of sizes.
#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/solver/choose.h"
#include "operator/solver/layouts.h"
#include "operator/solver/sizes.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;
using vps::AxisSizes;

AxisSizes L(absl::string_view text) { return *AxisSizes::Parse(text); }

bool In(const api::AxisRange& range, int size) {
  return range.min <= size && size <= range.max;
}

std::set<AxisSizes> BruteForce(int world, const api::Parallelism& c) {
  std::set<AxisSizes> all;
  for (int dp = 1; dp <= world; ++dp)
    for (int tp = 1; tp <= world; ++tp)
      for (int pp = 1; pp <= world; ++pp)
        for (int ep = 1; ep <= world; ++ep)
          for (int rep = 1; rep <= world; ++rep) {
            if (dp * tp * pp * ep * rep != world) continue;
            const bool cut =
                (c.model.heads == 0 || c.model.heads % tp == 0) &&
                (c.model.layers == 0 || pp <= c.model.layers) &&
                (c.model.experts == 0 || c.model.experts % ep == 0);
            if (cut && In(c.dp, dp) && In(c.tp, tp) && In(c.pp, pp) &&
                In(c.ep, ep) && In(c.rep, rep)) {
              all.insert(*AxisSizes::Create({dp, tp, pp, ep, rep}));
            }
          }
  return all;
}

std::set<AxisSizes> Enumerated(int world, const api::Parallelism& c) {
  std::set<AxisSizes> all;
  ForEachLayout(world, c, [&](const AxisSizes& layout) {
    EXPECT_TRUE(all.insert(layout).second) << layout << " twice";
    return true;
  });
  return all;
}

api::AxisRange RandomRange(std::mt19937_64& random) {
  const auto pick = [&](int max) { return static_cast<int>(random() % max); };
  if (pick(3) == 0) return {1, 1};
  const int min = 1 + pick(3);
  return {min, pick(4) == 0 ? api::AxisRange::kNoLimit : min + pick(8)};
}

api::Parallelism RandomConstraints(std::mt19937_64& random) {
  const auto said = [&] {
    return static_cast<int>(random() % 2 * random() % 13);
  };
  return {RandomRange(random),
          RandomRange(random),
          RandomRange(random),
          RandomRange(random),
          RandomRange(random),
          {.heads = said(), .layers = said(), .experts = said()}};
}

int Kept(const AxisSizes& a, const AxisSizes& b) {
  return 8 * (a.tp() == b.tp()) + 4 * (a.pp() == b.pp()) +
         2 * (a.ep() == b.ep()) + (a.rep() == b.rep());
}

TEST(SolverTest, EnumeratesAndChoosesLikeBruteForce) {
  std::mt19937_64 random = TestRandom();
  for (int i = 0; i < 300; ++i) {
    const int world = 1 + static_cast<int>(random() % 16);
    const api::Parallelism constraints = RandomConstraints(random);
    const std::set<AxisSizes> all = BruteForce(world, constraints);
    EXPECT_EQ(Enumerated(world, constraints), all);
    EXPECT_EQ(HasLayout(world, constraints), !all.empty());
    for (const AxisSizes& layout : all) {
      EXPECT_TRUE(Permits(constraints, layout));
    }
    const std::set<AxisSizes> any =
        BruteForce(1 + static_cast<int>(random() % 8),
                   {{1, 16}, {1, 16}, {1, 16}, {1, 16}, {1, 16}});
    const AxisSizes running = *std::next(any.begin(), random() % any.size());
    const auto chosen = ChooseLayout(world, constraints, running);
    ASSERT_EQ(chosen.ok(), !all.empty()) << chosen.status();
    if (!chosen.ok()) continue;
    EXPECT_TRUE(all.count(chosen->layout));
    for (const AxisSizes& other : all) {
      EXPECT_GE(Kept(chosen->layout, running), Kept(other, running));
      if (Kept(chosen->layout, running) == Kept(other, running)) {
        EXPECT_GE(chosen->layout.dp(), other.dp());
      }
    }
  }
}

TEST(SolverTest, ChoosesWhatMovesLeastAndSaysWhy) {
  const api::Parallelism free{{1, 8}, {1, 8}, {1, 8}, {1, 1}, {1, 1}};
  const struct {
    int world;
    api::Parallelism constraints;
    std::optional<AxisSizes> running;
    const char* layout;
    const char* reason;
  } cases[] = {
      {4, {}, std::nullopt, "dp4,tp1,pp1", "the only layout for 4 ranks"},
      {4, free, std::nullopt, "dp4,tp1,pp1", "the one with the largest dp"},
      {6, free, L("dp2,tp2"), "dp3,tp2,pp1", "keeps tp2, pp1 of dp2,tp2,pp1"},
      {3, free, L("dp2,tp2"), "dp3,tp1,pp1", "keeps pp1"},
      {4, free, L("dp1,tp4"), "dp1,tp4,pp1", "runs already"},
      {4,
       {{1, 8}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
       L("dp4"),
       "dp2,tp2,pp1",
       "the only layout for 4 ranks under dp 1..8, tp=2, pp=1"},
  };
  for (const auto& test : cases) {
    const auto choice =
        ChooseLayout(test.world, test.constraints, test.running);
    ASSERT_TRUE(choice.ok()) << choice.status();
    EXPECT_EQ(choice->layout.ToString(), test.layout);
    EXPECT_THAT(choice->reason, HasSubstr(test.reason));
  }
}

api::JobSpec Spec(int replicas, int min, int max, api::Parallelism p) {
  api::JobSpec spec;
  spec.replicas = replicas;
  spec.elastic.min_replicas = min;
  spec.elastic.max_replicas = max;
  spec.parallelism = p;
  return spec;
}

const api::Parallelism kTp2{
    {1, api::AxisRange::kNoLimit}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};

TEST(SizesTest, FeasibleReplicasReadWell) {
  EXPECT_EQ(FeasibleReplicas(Spec(1, 1, 4, {})), "1, 2, 3, 4");
  EXPECT_EQ(FeasibleReplicas(Spec(1, 1, 4096, {})), "1-4096");
  EXPECT_EQ(FeasibleReplicas(Spec(2, 1, 9, kTp2)), "2, 4, 6, 8");
  EXPECT_EQ(FeasibleReplicas(Spec(1, 1, 1, kTp2)), "none");
  api::JobSpec spec = Spec(1, 1, 8, {{1, 4}, {1, 2}, {1, 1}, {1, 1}, {1, 1}});
  EXPECT_EQ(FeasibleReplicas(spec), "1, 2, 3, 4, 6, 8");
  spec.ranks_per_replica = 2;
  EXPECT_EQ(FeasibleReplicas(spec), "1, 2, 3, 4");
  EXPECT_THAT(FeasibleReplicas(Spec(2, 1, 100, kTp2)),
              ::testing::EndsWith("38, 40, ..."));
}

TEST(SizesTest, AnInfeasibleWishNamesTheNearest) {
  SizeWish wish = ResolveReplicas(Spec(5, 1, 8, kTp2), 4);
  EXPECT_FALSE(wish.granted);
  EXPECT_EQ(wish.replicas, 4);
  EXPECT_EQ(wish.reason,
            "5 pods can't run: no layout of 5 ranks satisfies dp>=1, tp=2, "
            "pp=1; nearest sizes with a layout: 4 and 6; staying at 4");

  api::JobSpec spec = Spec(5, 1, 8, kTp2);
  spec.elastic.infeasible_policy = api::InfeasiblePolicy::kRoundDown;
  wish = ResolveReplicas(spec, 2);
  EXPECT_EQ(wish.replicas, 4);
  EXPECT_THAT(wish.reason, HasSubstr("rounded down to 4"));

  wish = ResolveReplicas(Spec(1, 1, 1, kTp2), 0);
  EXPECT_EQ(wish.replicas, 0);
  EXPECT_THAT(wish.reason, HasSubstr("no size from 1 to 1 has one"));

  spec = Spec(5, 1, 8, {{1, 1}, {1, 8}, {1, 1}, {1, 1}, {1, 1}, {.heads = 12}});
  EXPECT_EQ(FeasibleReplicas(spec), "1, 2, 3, 4, 6");
  EXPECT_THAT(ResolveReplicas(spec, 4).reason,
              HasSubstr("tp 1..8, pp=1, tp divides 12 heads; nearest sizes "
                        "with a layout: 4 and 6"));

  wish = ResolveReplicas(Spec(4, 1, 8, kTp2), 2);
  EXPECT_TRUE(wish.granted);
  EXPECT_EQ(wish.replicas, 4);
}

}  // namespace
}  // namespace dynatrain::control
