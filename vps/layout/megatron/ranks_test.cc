#include "vps/layout/megatron/ranks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "[0,1][2,3]", as in MEGATRON_LAYOUT.
std::string Text(const Mesh& mesh, const std::vector<std::string>& axes) {
  std::string text;
  for (const std::vector<int>& group : RankGroups(mesh, axes)) {
    absl::StrAppend(&text, "[", absl::StrJoin(group, ","), "]");
  }
  return text;
}

std::string Dense(const Ranks& ranks, const std::vector<std::string>& axes) {
  return Text(ranks.dense(), axes);
}

std::string Expert(const Ranks& ranks, const std::vector<std::string>& axes) {
  return Text(ranks.expert(), axes);
}

// MEGATRON_LAYOUT 6.1, first golden world.
TEST(Ranks, OfSixteenAreMegatrons) {
  const Ranks ranks = *Ranks::Create(
      {.world = 16, .tp = 2, .cp = 2, .pp = 2, .ep = 2, .etp = 1});
  EXPECT_EQ(ranks.dense().DebugString(), "pp2,dp2,cp2,tp2");
  EXPECT_EQ(ranks.expert().DebugString(), "pp2,edp4,ep2,etp1");
  EXPECT_EQ(Dense(ranks, {"tp"}),
            "[0,1][2,3][4,5][6,7][8,9][10,11][12,13][14,15]");
  EXPECT_EQ(Dense(ranks, {"cp"}),
            "[0,2][1,3][4,6][5,7][8,10][9,11][12,14][13,15]");
  EXPECT_EQ(Dense(ranks, {"dp"}),
            "[0,4][1,5][2,6][3,7][8,12][9,13][10,14][11,15]");
  EXPECT_EQ(Dense(ranks, {"dp", "cp"}),
            "[0,2,4,6][1,3,5,7][8,10,12,14][9,11,13,15]");
  EXPECT_EQ(Dense(ranks, {"pp"}),
            "[0,8][1,9][2,10][3,11][4,12][5,13][6,14][7,15]");
  EXPECT_EQ(Dense(ranks, {"tp", "pp"}),
            "[0,1,8,9][2,3,10,11][4,5,12,13][6,7,14,15]");
  EXPECT_EQ(Expert(ranks, {"etp"}),
            "[0][1][2][3][4][5][6][7][8][9][10][11][12][13][14][15]");
  EXPECT_EQ(Expert(ranks, {"ep"}),
            "[0,1][2,3][4,5][6,7][8,9][10,11][12,13][14,15]");
  EXPECT_EQ(Expert(ranks, {"edp"}),
            "[0,2,4,6][1,3,5,7][8,10,12,14][9,11,13,15]");
  EXPECT_THAT(ranks.dense_shard_axes(), ElementsAre("dp", "cp"));
  EXPECT_THAT(ranks.expert_shard_axes(), ElementsAre("edp"));
  EXPECT_EQ(ranks.dense_shards(), 4);
  EXPECT_EQ(ranks.expert_shards(), 4);
}

// MEGATRON_LAYOUT 6.1, second golden world: expert groups straddle tp groups.
TEST(Ranks, OfTwelveAreMegatrons) {
  const Ranks ranks =
      *Ranks::Create({.world = 12, .tp = 3, .pp = 2, .ep = 2, .etp = 1});
  EXPECT_EQ(Dense(ranks, {"tp"}), "[0,1,2][3,4,5][6,7,8][9,10,11]");
  EXPECT_EQ(Dense(ranks, {"dp"}), "[0,3][1,4][2,5][6,9][7,10][8,11]");
  EXPECT_EQ(Expert(ranks, {"ep"}), "[0,1][2,3][4,5][6,7][8,9][10,11]");
  EXPECT_EQ(Expert(ranks, {"edp"}), "[0,2,4][1,3,5][6,8,10][7,9,11]");
}

TEST(Ranks, ExpertTensorSizeIsThatOfTensorsUnlessGiven) {
  EXPECT_EQ(Ranks::Create({.world = 8, .tp = 4})->etp(), 4);
  EXPECT_EQ(Ranks::Create({.world = 8, .tp = 4, .etp = 1})->edp(), 8);
}

TEST(Ranks, InstancesCutTheListOfDataParallelRanks) {
  const Ranks ranks = *Ranks::Create(
      {.world = 16, .tp = 2, .cp = 2, .ep = 2, .optimizer_instances = 2});
  EXPECT_EQ(ranks.dense_shards(), 4);
  EXPECT_EQ(ranks.expert_shards(), 2);
}

TEST(Ranks, OrderMayLeaveOutAxesOfSizeOne) {
  const Ranks ranks = *Ranks::Create({.world = 4, .tp = 2, .order = "dp-tp"});
  EXPECT_EQ(ranks.dense().DebugString(), "cp1,pp1,tp2,dp2");
  EXPECT_EQ(ranks.expert().DebugString(), "ep1,pp1,etp2,edp2");
  EXPECT_THAT(Ranks::Create({.world = 4, .cp = 2, .order = "dp-cp"})
                  ->dense_shard_axes(),
              ElementsAre("cp", "dp"));
}

struct Refused {
  Ranks::Sizes sizes;
  std::string why;
};

TEST(Ranks, RefusesWhatMegatronRefusesAndSaysWhatWouldDo) {
  const Refused table[] = {
      {{.world = 10, .tp = 2, .pp = 3},
       "world 10 is not divisible by tp 2 * cp 1 * pp 3 = 6; the nearest "
       "worlds that all sizes divide are 6 and 12"},
      {{.world = 4, .tp = 8}, "the nearest worlds that all sizes divide are 8"},
      {{.world = 8, .tp = 2, .ep = 3, .etp = 1},
       "world 8 is not divisible by etp 1 * ep 3 * pp 1 = 3; the nearest "
       "worlds that all sizes divide are 6 and 12"},
      {{.world = 0}, "world is 0; it lies in 1..1048576"},
      {{.world = 8, .cp = -1}, "cp is -1"},
      {{.world = 8, .etp = -2}, "etp is -2"},
      {{.world = 1, .tp = 1 << 20, .cp = 1 << 20, .pp = 1 << 20},
       "world 1 is not divisible"},
      {{.world = 8, .order = "tp-dp-xx"}, "\"xx\" is no axis"},
      {{.world = 8, .order = ""}, "\"\" is no axis"},
      {{.world = 8, .order = "tp-dp-tp"}, "axis tp is there twice"},
      {{.world = 8, .pp = 2, .order = "tp-dp"},
       "the size of pp is 2, but order \"tp-dp\" does not say"},
      {{.world = 8, .ep = 2, .order = "tp-dp-pp"}, "the size of ep is 2"},
      {{.world = 8, .optimizer_instances = 3},
       "optimizer_instances 3 must divide dp * cp = 8 and edp = 8: one of 1, "
       "2, 4, 8"},
      {{.world = 8, .ep = 4, .optimizer_instances = 4}, "edp = 2: one of 1, 2"},
      // MEGATRON_LAYOUT 6.1, third golden world.
      {{.world = 8,
        .tp = 2,
        .pp = 2,
        .ep = 2,
        .order = std::string(kTpPpDpOrder)},
       "they are dp 2 and edp 1"},
      // dp and edp are equal, the pipelines are not.
      {{.world = 16,
        .tp = 2,
        .pp = 2,
        .ep = 2,
        .etp = 1,
        .order = "tp-pp-ep-dp"},
       "the ranks of a pipeline are 2 and 1 apart"},
  };
  for (const Refused& row : table) {
    const auto ranks = Ranks::Create(row.sizes);
    EXPECT_EQ(ranks.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(ranks.status().message()), HasSubstr(row.why));
  }
}

// generate_masked_orthogonal_rank_groups, as written: strides by prefix
// product, indices by decomposition.
std::vector<std::vector<int>> Generate(const std::vector<int>& sizes,
                                       const std::vector<bool>& mask) {
  std::vector<int> shape[2], stride[2];  // unmasked, masked
  int world = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    shape[mask[i]].push_back(sizes[i]);
    stride[mask[i]].push_back(world);
    world *= sizes[i];
  }
  const auto offset = [&](bool which, int index) {
    int sum = 0;
    for (size_t i = 0; i < shape[which].size(); ++i) {
      sum += index % shape[which][i] * stride[which][i];
      index /= shape[which][i];
    }
    return sum;
  };
  int group_size = 1;
  for (int size : shape[1]) group_size *= size;
  std::vector<std::vector<int>> groups(world / group_size);
  for (size_t group = 0; group < groups.size(); ++group) {
    for (int i = 0; i < group_size; ++i) {
      groups[group].push_back(offset(true, i) + offset(false, group));
    }
  }
  return groups;
}

// All sizes but the world's, which they give with `dp`.
struct RanksCase {
  int dp = 1;
  Ranks::Sizes sizes;

  Ranks::Sizes Full() const {
    Ranks::Sizes full = sizes;
    full.world = full.tp * full.cp * full.pp * dp;
    return full;
  }
  friend std::ostream& operator<<(std::ostream& out, const RanksCase& it) {
    const Ranks::Sizes s = it.Full();
    return out << "world " << s.world << " tp " << s.tp << " cp " << s.cp
               << " pp " << s.pp << " ep " << s.ep << " etp " << s.etp << " "
               << s.order;
  }
};

RanksCase RandomRanks(std::mt19937_64& random) {
  const auto pick = [&] { return static_cast<int>(random() % 3 + 1); };
  std::vector<std::string> order = {"tp", "cp", "ep", "dp", "pp"};
  std::shuffle(order.begin(), order.end(), random);
  return {.dp = pick(),
          .sizes = {.tp = pick(),
                    .cp = pick(),
                    .pp = pick(),
                    .ep = pick(),
                    .etp = pick(),
                    .order = absl::StrJoin(order, "-")}};
}

std::vector<RanksCase> SmallerRanks(const RanksCase& it) {
  std::vector<RanksCase> smaller;
  if (it.dp > 1) --smaller.emplace_back(it).dp;
  for (int64_t Ranks::Sizes::*size :
       {&Ranks::Sizes::tp, &Ranks::Sizes::cp, &Ranks::Sizes::pp,
        &Ranks::Sizes::ep, &Ranks::Sizes::etp}) {
    if (it.sizes.*size > 1) --(smaller.emplace_back(it).sizes.*size);
  }
  return smaller;
}

// The generator's groups of the axes `tokens`, for sizes by axis.
std::vector<std::vector<int>> GroupsOf(const std::vector<std::string>& order,
                                       const std::map<std::string, int>& sizes,
                                       const std::set<std::string>& tokens) {
  std::vector<int> in_order;
  std::vector<bool> mask;
  for (const std::string& token : order) {
    in_order.push_back(sizes.at(token));
    mask.push_back(tokens.contains(token));
  }
  return Generate(in_order, mask);
}

// Of sizes that are taken.
void ExpectGroupsOfTheGenerator(const RanksCase& it) {
  const Ranks::Sizes sizes = it.Full();
  const auto ranks = Ranks::Create(sizes);
  if (!ranks.ok()) return;
  const std::vector<std::string> order = absl::StrSplit(sizes.order, '-');
  const int pp = static_cast<int>(sizes.pp);
  const std::map<std::string, int> dense = {{"tp", static_cast<int>(sizes.tp)},
                                            {"cp", static_cast<int>(sizes.cp)},
                                            {"ep", 1},
                                            {"dp", it.dp},
                                            {"pp", pp}};
  const std::map<std::string, int> expert = {{"tp", ranks->etp()},
                                             {"cp", 1},
                                             {"ep", ranks->ep()},
                                             {"dp", ranks->edp()},
                                             {"pp", pp}};
  EXPECT_EQ(RankGroups(ranks->dense(), {"dp", "cp"}),
            GroupsOf(order, dense, {"dp", "cp"}));
  EXPECT_EQ(RankGroups(ranks->dense(), {"tp", "pp"}),
            GroupsOf(order, dense, {"tp", "pp"}));
  EXPECT_EQ(RankGroups(ranks->expert(), {"edp"}),
            GroupsOf(order, expert, {"dp"}));
  EXPECT_EQ(RankGroups(ranks->expert(), {"etp", "ep"}),
            GroupsOf(order, expert, {"tp", "ep"}));
  // What initialize_model_parallel asserts of those that it takes.
  EXPECT_EQ(GroupsOf(order, dense, {"pp"}), GroupsOf(order, expert, {"pp"}));
  EXPECT_TRUE(order.back() == "pp" || pp == 1 || ranks->edp() == it.dp);
}

TEST(Ranks, GroupsAreThoseOfTheGeneratorForAnyOrder) {
  auto random = TestRandom();
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const RanksCase drawn = RandomRanks(random);
    CheckShrunk(drawn, SmallerRanks, ExpectGroupsOfTheGenerator);
    if (HasFailure()) return;
    accepted += Ranks::Create(drawn.Full()).ok();
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace dynatrain::vps::megatron
