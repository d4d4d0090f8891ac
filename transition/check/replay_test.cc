#include "transition/check/replay.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/matching.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Operation To(int peer, int lane = 0) {
  return Send(peer, {{0, vps::Box()}}, 4, lane);
}
Operation From(int peer, int lane = 0) {
  return Receive(peer, {{0, vps::Box()}}, 4, lane);
}

std::vector<Program> Programs(std::vector<std::vector<Operation>> lists) {
  std::vector<Program> programs;
  for (std::vector<Operation>& list : lists) {
    programs.push_back({.rank = static_cast<int>(programs.size()),
                        .operations = std::move(list)});
  }
  return programs;
}

Violations Waits(const std::vector<Program>& programs, int credits = 0) {
  const Matching matching = Match(programs);
  EXPECT_THAT(matching.violations, IsEmpty());
  return CheckWaits(programs, matching, credits);
}

TEST(ReplayTest, ASendMeetsItsReceive) {
  EXPECT_THAT(Waits(Programs({{To(1)}, {From(0)}})), IsEmpty());
}

// Both send first: under rendezvous neither receives. One credit is enough.
TEST(ReplayTest, SendingFirstOnBothSidesNeedsACredit) {
  const auto programs = Programs({{To(1), From(1)}, {To(0), From(0)}});
  const Violations violations = Waits(programs);
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].kind, ViolationKind::kDeadlock);
  EXPECT_THAT(violations[0].text,
              HasSubstr("rank 0 waits in operation 0, send, for rank 1, rank 1 "
                        "waits in operation 0, send, for rank 0"));
  EXPECT_THAT(Waits(programs, 1), IsEmpty());
}

TEST(ReplayTest, ReceivingFirstOnBothSidesIsNeverRight) {
  const auto programs = Programs({{From(1), To(1)}, {From(0), To(0)}});
  for (const int credits : {0, 1, 100}) {
    EXPECT_THAT(Waits(programs, credits), SizeIs(1));
  }
}

TEST(ReplayTest, CreditsRunOut) {
  const auto programs = Programs(
      {{To(1), To(1), To(1), From(1)}, {To(0), From(0), From(0), From(0)}});
  EXPECT_THAT(Waits(programs, 0), SizeIs(1));
  EXPECT_THAT(Waits(programs, 1), IsEmpty());  // rank 1 sends at once
  const auto both = Programs(
      {{To(1), To(1), From(1), From(1)}, {To(0), To(0), From(0), From(0)}});
  EXPECT_THAT(Waits(both, 1), SizeIs(1));
  EXPECT_THAT(Waits(both, 2), IsEmpty());
}

TEST(ReplayTest, AGroupDoesItsOperationsInAnyOrder) {
  const auto group = [](int peer) {
    return std::vector<Operation>{GroupBegin(0), To(peer), From(peer),
                                  GroupEnd()};
  };
  EXPECT_THAT(Waits(Programs({group(1), group(0)})), IsEmpty());
}

// Windows that are not closed: each rank's first group holds what the next one
// has in its second.
TEST(ReplayTest, GroupsWaitForAllTheyHold) {
  std::vector<std::vector<Operation>> lists;
  for (int rank = 0; rank < 3; ++rank) {
    lists.push_back({GroupBegin(0), To((rank + 1) % 3), GroupEnd(),
                     GroupBegin(1), From((rank + 2) % 3), GroupEnd()});
  }
  EXPECT_THAT(Waits(Programs(lists)), SizeIs(1));
  EXPECT_THAT(Waits(Programs(lists), 1), IsEmpty());
}

TEST(ReplayTest, LanesRunBesideEachOther) {
  EXPECT_THAT(Waits(Programs({{From(1, 0), To(1, 1)}, {From(0, 0), To(0, 1)}})),
              IsEmpty());
}

TEST(ReplayTest, AJoinWaitsForAllLanes) {
  EXPECT_THAT(Waits(Programs({{From(1, 0), Join(), To(1, 1)},
                              {From(0, 0), Join(), To(0, 1)}})),
              SizeIs(1));
  EXPECT_THAT(Waits(Programs({{To(1, 1), Join(), From(1, 0)},
                              {From(0, 0), Join(), To(0, 1)}})),
              IsEmpty());
}

// All orders of events, by brute force: state is how far each rank is and how
// many messages of each stream are received. For programs of one lane.
class AllOrders {
 public:
  AllOrders(const std::vector<Program>& programs, const Matching& matching,
            int credits)
      : programs_(programs), matching_(matching), credits_(credits) {}

  // The sets of end states.
  std::set<std::vector<int>> Run() {
    Explore(std::vector<int>(programs_.size()));
    return ends_;
  }

 private:
  bool SentOrWaiting(const std::vector<int>& at, const Matching::End& end) {
    return at[end.rank] >= end.operation;
  }
  int Received(const std::vector<int>& at, int rank, int operation) {
    const Matching::End& receive = matching_.other_end[rank][operation];
    int received = 0;
    for (int i = 0; i < at[receive.rank]; ++i) {
      received +=
          matching_.other_end[receive.rank][i].stream == receive.stream &&
          programs_[receive.rank].operations[i].kind == OperationKind::kReceive;
    }
    return received;
  }
  bool CanEnd(const std::vector<int>& at, int rank) {
    const int operation = at[rank];
    const Matching::End& end = matching_.other_end[rank][operation];
    if (SentOrWaiting(at, end)) return true;
    return programs_[rank].operations[operation].kind == OperationKind::kSend &&
           end.place < Received(at, rank, operation) + credits_;
  }
  void Explore(const std::vector<int>& at) {
    if (!seen_.insert(at).second) return;
    bool stuck = true;
    for (int rank = 0; rank < programs_.size(); ++rank) {
      if (at[rank] == programs_[rank].operations.size()) continue;
      if (!CanEnd(at, rank)) continue;
      stuck = false;
      std::vector<int> next = at;
      ++next[rank];
      Explore(next);
    }
    if (stuck) ends_.insert(at);
  }

  const std::vector<Program>& programs_;
  const Matching& matching_;
  const int credits_;
  std::set<std::vector<int>> seen_;
  std::set<std::vector<int>> ends_;
};

// What one replay finds is what every order of events comes to.
TEST(ReplayTest, AgreesWithAllOrdersOfEvents) {
  std::mt19937_64 random = TestRandom(11);
  int stuck = 0;
  int ended = 0;
  for (int round = 0; round < 3000; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 3);
    std::vector<std::vector<Operation>> lists(ranks);
    for (int i = 0; i < 1 + static_cast<int>(random() % 6); ++i) {
      const int from = static_cast<int>(random() % ranks);
      const int to =
          static_cast<int>((from + 1 + random() % (ranks - 1)) % ranks);
      lists[from].push_back(To(to));
      lists[to].push_back(From(from));
    }
    for (auto& list : lists) {
      if (random() % 2) std::shuffle(list.begin(), list.end(), random);
    }
    const std::vector<Program> programs = Programs(lists);
    const Matching matching = Match(programs);
    const int credits = static_cast<int>(random() % 3);
    const std::set<std::vector<int>> ends =
        AllOrders(programs, matching, credits).Run();
    ASSERT_THAT(ends, SizeIs(1));
    bool all = true;
    for (int rank = 0; rank < ranks; ++rank) {
      all &= (*ends.begin())[rank] == lists[rank].size();
    }
    ++(all ? ended : stuck);
    EXPECT_EQ(CheckWaits(programs, matching, credits).empty(), all);
  }
  EXPECT_GT(stuck, 100);
  EXPECT_GT(ended, 100);
}

// The theorem of 0003-schedule: restrictions of one total order never wait in
// a cycle, whatever the order.
TEST(ReplayTest, ProgramsFromOneOrderNeverWaitForEver) {
  std::mt19937_64 random = TestRandom(12);
  for (int round = 0; round < 300; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 12);
    std::vector<std::vector<Operation>> lists(ranks);
    for (int i = 0; i < 60; ++i) {
      const int from = static_cast<int>(random() % ranks);
      const int to =
          static_cast<int>((from + 1 + random() % (ranks - 1)) % ranks);
      lists[from].push_back(To(to));
      lists[to].push_back(From(from));
    }
    for (const int credits : {0, 1, 3}) {
      EXPECT_THAT(Waits(Programs(lists), credits), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
