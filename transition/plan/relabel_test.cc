#include "transition/plan/relabel.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/plan/world_for_test.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

vps::Manifest Model() {
  return *vps::Manifest::Create({TensorForTest("w", {24, 4}, {{"dp", 0}})});
}

std::vector<uint64_t> Ids(const World& world) {
  std::vector<uint64_t> ids;
  for (const Process& process : world.processes()) ids.push_back(process.id);
  return ids;
}

// Processes of one member differ in the last digit.
PlanInput Input(const std::string& source, const std::vector<uint64_t>& before,
                const std::string& target, const std::vector<uint64_t>& after) {
  return *PlanInput::Create(WorldForTest(source, Model(), before),
                            WorldForTest(target, Model(), after));
}

int64_t BytesKept(const PlanInput& input) {
  int64_t bytes = 0;
  for (const Process& process : input.target().processes()) {
    bytes += PlanForProcess(input, process.id)->bytes.kept_bytes;
  }
  return bytes;
}

TEST(Relabel, PutsProcessesWhereTheirBytesAre) {
  const PlanInput input = Input("dp3", {10, 20, 30}, "dp3", {30, 10, 20});
  const Relabeling found = *Relabel(input, {});
  EXPECT_THAT(Ids(found.target), ElementsAre(10, 20, 30));
  EXPECT_EQ(found.given_kept_bytes, 0);
  EXPECT_EQ(found.kept_bytes, 24 * 4 * 4);
  EXPECT_EQ(found.bound_bytes, found.kept_bytes);
  EXPECT_EQ(found.changed_ranks, 3);
}

TEST(Relabel, LeavesAnOrderThatIsAsGoodAsAnyOther) {
  const vps::Manifest replicated =
      *vps::Manifest::Create({TensorForTest("w", {24, 4}, {})});
  const PlanInput input =
      *PlanInput::Create(WorldForTest("rep3", replicated, {10, 20, 30}),
                         WorldForTest("rep3", replicated, {30, 40, 20}));
  const Relabeling found = *Relabel(input, {});
  EXPECT_THAT(Ids(found.target), ElementsAre(30, 40, 20));
  EXPECT_EQ(found.changed_ranks, 0);
}

// Ranks 0, 1 of the source are halves of what target ranks 0 and 2 have.
TEST(Relabel, TearsMembersApartOnlyForMoreBytes) {
  const PlanInput input =
      Input("dp4", {10, 20, 11, 21}, "dp4", {10, 11, 20, 21});
  const Relabeling torn = *Relabel(input, {});
  EXPECT_THAT(Ids(torn.target), ElementsAre(10, 20, 11, 21));
  EXPECT_EQ(torn.kept_bytes, 24 * 4 * 4);
  EXPECT_FALSE(torn.members_whole);
  const Relabeling whole = *Relabel(input, {.unit = RelabelUnit::kMember});
  EXPECT_TRUE(whole.members_whole);
  EXPECT_EQ(whole.kept_bytes, 24 * 4 * 4 / 2);
  EXPECT_THAT(whole.DebugString(), HasSubstr("keeps 192 B"));
  EXPECT_THAT(torn.DebugString(), HasSubstr("members are torn apart"));
}

TEST(Relabel, MovesWholeMembers) {
  const PlanInput input =
      Input("dp4", {10, 11, 20, 21}, "dp4", {21, 20, 11, 10});
  const Relabeling found = *Relabel(input, {.unit = RelabelUnit::kMember});
  EXPECT_THAT(Ids(found.target), ElementsAre(10, 11, 20, 21));
  EXPECT_TRUE(found.members_whole);
}

// 12 has what rank 0 needs; 10 and 11 have nothing, so 11 keeps its rank.
TEST(Relabel, LeavesAProcessWhereItIsIfBytesAreEqual) {
  const Relabeling found =
      *Relabel(Input("dp3", {12, 90, 91}, "dp3", {10, 11, 12}), {});
  EXPECT_THAT(Ids(found.target), ElementsAre(12, 11, 10));
  EXPECT_EQ(found.changed_ranks, 2);
}

// Ranks 4..7 are torn apart for their bytes. 11 and 21 have what ranks 0 and 1
// need; 10 and 20 have nothing and can't keep their ranks, but their members.
TEST(Relabel, LeavesAProcessOnItsMemberIfBytesAreEqual) {
  const Relabeling found =
      *Relabel(Input("dp8", {11, 21, 90, 91, 30, 40, 31, 41}, "dp8",
                     {10, 20, 21, 11, 30, 31, 40, 41}),
               {});
  EXPECT_FALSE(found.members_whole);
  EXPECT_THAT(Ids(found.target), ElementsAre(11, 21, 20, 10, 30, 40, 31, 41));
}

TEST(Relabel, OfTheFirstStartChangesNothing) {
  const PlanInput input =
      *PlanInput::Create(World(), WorldForTest("dp2", Model(), {20, 10}));
  EXPECT_THAT(Ids(Relabel(input, {})->target), ElementsAre(20, 10));
}

TEST(Relabel, RefusesOptionsThatItCannotDo) {
  const PlanInput input = Input("dp1", {10}, "dp1", {10});
  for (int max_exact : {0, kMaxAssignmentSize + 1}) {
    const auto found = Relabel(input, {.max_exact = max_exact});
    EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(found.status().message()),
                HasSubstr("max_exact is "));
  }
}

// 2,049 ranks, one element each: all processes are one rank further.
TEST(Relabel, LargerWorldsStayAsTheyAreAndHaveABound) {
  constexpr int kRanks = kMaxAssignmentSize + 1;
  std::vector<uint64_t> ids(kRanks), moved(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    ids[rank] = rank + 1;
    moved[(rank + 1) % kRanks] = rank + 1;
  }
  std::swap(moved[0], moved[1]);  // the first is where it was
  const std::string sizes = absl::StrCat("dp", kRanks);
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {kRanks, 1}, {{"dp", 0}})});
  const PlanInput input =
      *PlanInput::Create(WorldForTest(sizes.c_str(), model, ids),
                         WorldForTest(sizes.c_str(), model, moved));
  const Relabeling found = *Relabel(input, {});
  EXPECT_EQ(Ids(found.target), moved);
  EXPECT_EQ(found.changed_ranks, 0);
  EXPECT_EQ(found.kept_bytes, 4);
  EXPECT_EQ(found.given_kept_bytes, 4);
  EXPECT_EQ(found.bound_bytes, 4 * kRanks);
}

std::vector<uint64_t> GivenIds(const PlanInput& input) {
  std::vector<uint64_t> ids = Ids(input.target());
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool MembersWhole(const World& given, const World& found) {
  for (int a = 0; a < given.size(); ++a) {
    for (int b = 0; b < a; ++b) {
      if (given.process(a).member == given.process(b).member &&
          found.process(a).member != found.process(b).member) {
        return false;
      }
    }
  }
  return true;
}

// Of all orders of the target's processes.
struct Tried {
  int64_t kept_bytes = 0;
  int64_t kept_by_whole_bytes = 0;
};

Tried TryAll(const PlanInput& input) {
  Tried tried;
  std::vector<Process> order(input.target().processes().begin(),
                             input.target().processes().end());
  const auto before = [](const Process& a, const Process& b) {
    return a.id < b.id;
  };
  std::sort(order.begin(), order.end(), before);
  do {
    const World world = *World::Create(input.target().layout(), order);
    const int64_t kept =
        BytesKept(*PlanInput::Create(input.source(), world, input.options()));
    tried.kept_bytes = std::max(tried.kept_bytes, kept);
    if (MembersWhole(input.target(), world)) {
      tried.kept_by_whole_bytes = std::max(tried.kept_by_whole_bytes, kept);
    }
  } while (std::next_permutation(order.begin(), order.end(), before));
  return tried;
}

TEST(Relabel, IsTheBestOfAllOrders) {
  std::mt19937_64 random = TestRandom();
  int tried = 0;
  while (tried < 60) {
    const PairCase pair = RandomPair(random);
    if (pair.target.ids.size() > 5) continue;
    ++tried;
    const PlanInput input = *MakeInput(pair);
    const Tried best = TryAll(input);
    const Relabeling free = *Relabel(input, {});
    const Relabeling whole = *Relabel(input, {.unit = RelabelUnit::kMember});
    ASSERT_EQ(free.kept_bytes, best.kept_bytes) << pair;
    ASSERT_EQ(whole.kept_bytes, best.kept_by_whole_bytes) << pair;
    ASSERT_EQ(free.members_whole, MembersWhole(input.target(), free.target));
    ASSERT_TRUE(free.members_whole ||
                best.kept_bytes > best.kept_by_whole_bytes)
        << pair;
  }
}

// Also where only a good order is looked for.
TEST(Relabel, NeverMovesMoreAndKeepsItsBound) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 400; ++i) {
    const PairCase pair = RandomPair(random);
    const PlanInput input = *MakeInput(pair);
    for (RelabelUnit unit : {RelabelUnit::kRank, RelabelUnit::kMember}) {
      int64_t exact_kept = 0;
      for (int max_exact : {512, 1}) {
        const Relabeling found =
            *Relabel(input, {.unit = unit, .max_exact = max_exact});
        ASSERT_EQ(found.given_kept_bytes, BytesKept(input)) << pair;
        const PlanInput relabeled =
            *PlanInput::Create(input.source(), found.target, input.options());
        ASSERT_EQ(GivenIds(relabeled), GivenIds(input)) << pair;
        ASSERT_EQ(found.kept_bytes, BytesKept(relabeled)) << pair;
        ASSERT_GE(found.kept_bytes, found.given_kept_bytes) << pair;
        ASSERT_GE(found.bound_bytes, found.kept_bytes) << pair;
        if (max_exact > 1) {
          exact_kept = found.kept_bytes;
          ASSERT_EQ(found.bound_bytes, exact_kept) << pair;
        } else {
          ASSERT_GE(found.bound_bytes, exact_kept) << pair;
        }
        if (unit == RelabelUnit::kMember) {
          ASSERT_TRUE(MembersWhole(input.target(), found.target)) << pair;
          ASSERT_TRUE(found.members_whole);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
