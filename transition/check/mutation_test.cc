// Each way in which a plan could be wrong that we know of, made on purpose: the
// checker must find every one.
#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/check/check.h"
#include "transition/check/sample_programs.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

using Kind = OperationKind;
using Test = std::function<bool(const Operation&)>;

// A place in the programs that a mutation changes.
struct Place {
  int rank = -1;
  int operation = -1;
};

class Mutant {
 public:
  Mutant(Sample sample, std::mt19937_64& random)
      : sample_(std::move(sample)), random_(random) {}

  Sample& sample() { return sample_; }
  std::vector<Operation>& list(int rank) {
    return sample_.programs[rank].operations;
  }
  Operation& at(Place place) { return list(place.rank)[place.operation]; }
  int num_ranks() const { return static_cast<int>(sample_.programs.size()); }

  // One of the operations that pass, at random.
  Place Pick(const Test& test) {
    std::vector<Place> places;
    for (int rank = 0; rank < num_ranks(); ++rank) {
      for (int i = 0; i < list(rank).size(); ++i) {
        if (test(list(rank)[i])) places.push_back({rank, i});
      }
    }
    EXPECT_FALSE(places.empty()) << "nothing to mutate";
    return places[random_() % places.size()];
  }
  // The same on one rank.
  Place PickOf(int rank, const Test& test) {
    std::vector<Place> places;
    for (int i = 0; i < list(rank).size(); ++i) {
      if (test(list(rank)[i])) places.push_back({rank, i});
    }
    EXPECT_FALSE(places.empty()) << "nothing to mutate on rank " << rank;
    return places[random_() % places.size()];
  }
  Place Pick(Kind kind) {
    return Pick([kind](const Operation& it) { return it.kind == kind; });
  }
  // The receive of a send: each pair has one message per channel.
  Place ReceiveOf(Place send) {
    const Operation sent = at(send);
    for (int i = 0; i < list(sent.peer).size(); ++i) {
      const Operation& it = list(sent.peer)[i];
      if (it.kind == Kind::kReceive && it.peer == send.rank &&
          it.channel == sent.channel) {
        return {sent.peer, i};
      }
    }
    ADD_FAILURE() << "no receive";
    return {};
  }
  int IndexOf(int rank, Kind kind) {
    const auto& operations = list(rank);
    return static_cast<int>(
        std::find_if(operations.begin(), operations.end(),
                     [&](const Operation& it) { return it.kind == kind; }) -
        operations.begin());
  }

  void Erase(Place place) {
    list(place.rank).erase(list(place.rank).begin() + place.operation);
  }
  void Insert(int rank, int index, Operation operation) {
    list(rank).insert(list(rank).begin() + index, std::move(operation));
  }
  // Moves an operation to before the one that is at `index` now.
  void Move(Place place, int index) {
    const Operation moved = at(place);
    Insert(place.rank, index, moved);
    Erase({place.rank, place.operation + (index <= place.operation ? 1 : 0)});
  }
  // One row further down, or up.
  static void Shift(Operation& it) {
    Piece& piece = it.pieces[0];
    std::vector<int64_t> origin(piece.region.origin().begin(),
                                piece.region.origin().end());
    origin[0] += origin[0] > 0 ? -1 : 1;
    piece.region = *vps::Box::Create(origin, piece.region.shape());
  }

 private:
  Sample sample_;
  std::mt19937_64& random_;
};

bool IsExchange(const Operation& it) {
  return it.kind == Kind::kSend && it.channel == 0;
}
bool IsForward(const Operation& it) {
  return it.kind == Kind::kSend && it.space == Space::kTarget;
}

struct Mutation {
  const char* name;
  // Of the violations that there are, one is of these.
  std::set<ViolationKind> found_as;
  std::function<void(Mutant&)> mutate;
};

// What is sent, to whom, in which order.
std::vector<Mutation> MessageMutations() {
  using V = ViolationKind;
  return {
      {"drop a send",
       {V::kUnmatched},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kSend)); }},
      {"drop a receive",
       {V::kUnmatched},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kReceive)); }},
      {"drop both ends of a message",
       {V::kGap},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         m.Erase(m.ReceiveOf(send));
         m.Erase(send);
       }},
      {"duplicate a send",
       {V::kUnmatched},
       [](Mutant& m) {
         const Place send = m.Pick(Kind::kSend);
         m.Insert(send.rank, send.operation, m.at(send));
       }},
      {"duplicate both ends of a message",
       {V::kOverlap},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         const Place receive = m.ReceiveOf(send);
         m.Insert(send.rank, send.operation, m.at(send));
         m.Insert(receive.rank, receive.operation, m.at(receive));
       }},
      {"send to another rank",
       {V::kUnmatched},
       [](Mutant& m) {
         const Place send = m.Pick(Kind::kSend);
         int& peer = m.at(send).peer;
         do {
           peer = (peer + 1) % m.num_ranks();
         } while (peer == send.rank);
       }},
      {"swap the peers of two sends",
       {V::kMismatched, V::kGroup},
       [](Mutant& m) {
         std::vector<Operation*> sends;
         for (Operation& it : m.list(0)) {
           if (IsExchange(it)) sends.push_back(&it);
         }
         std::swap(sends[0]->peer, sends[1]->peer);
       }},
      {"swap the pieces of two sends",
       {V::kMismatched},
       [](Mutant& m) {
         Operation& a = m.at(m.Pick(IsExchange));
         Operation& b = m.at(m.Pick([&](const Operation& it) {
           return IsExchange(it) && it.pieces != a.pieces;
         }));
         std::swap(a.pieces, b.pieces);
         std::swap(a.bytes, b.bytes);
       }},
      {"shift what is sent",
       {V::kMismatched},
       [](Mutant& m) { Mutant::Shift(m.at(m.Pick(IsExchange))); }},
      {"shift where it is received",
       {V::kMismatched},
       [](Mutant& m) { Mutant::Shift(m.at(m.ReceiveOf(m.Pick(IsExchange)))); }},
      {"shift both ends",
       {V::kOverlap, V::kGap, V::kNotHeld},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         Mutant::Shift(m.at(m.ReceiveOf(send)));
         Mutant::Shift(m.at(send));
       }},
      {"other bytes at one end",
       {V::kMismatched},
       [](Mutant& m) { ++m.at(m.Pick(Kind::kReceive)).bytes; }},
      {"other bytes at both ends",
       {V::kMismatched},
       [](Mutant& m) {
         const Place send = m.Pick(Kind::kSend);
         --m.at(m.ReceiveOf(send)).bytes;
         --m.at(send).bytes;
       }},
      {"pieces in another order at one end",
       {V::kMismatched},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         Operation& it = m.at(send);
         if (it.pieces.size() > 1) {
           std::swap(it.pieces[0], it.pieces[1]);
         } else {
           Mutant::Shift(it);
         }
       }},
      {"another tensor at both ends",
       {V::kNotHeld, V::kMismatched},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         m.at(m.ReceiveOf(send)).pieces[0].tensor = 1;
         m.at(send).pieces[0].tensor = 1;
       }},
      {"another channel at one end",
       {V::kUnmatched},
       [](Mutant& m) { m.at(m.Pick(IsExchange)).channel = 9; }},
      {"a program that stops in the middle",
       {V::kUnmatched, V::kMalformed},
       [](Mutant& m) {
         const Place send = m.Pick(Kind::kSend);
         m.list(send.rank).resize(send.operation);
       }},
      {"an empty program",
       {V::kUnmatched},
       [](Mutant& m) { m.list(m.Pick(Kind::kSend).rank).clear(); }},
  };
}

// Waiting and groups.
std::vector<Mutation> OrderMutations() {
  using V = ViolationKind;
  return {
      {"pass on before receiving",
       {V::kNotHeld},
       [](Mutant& m) {
         const Place send = m.Pick(IsForward);
         m.Move(send, m.IndexOf(send.rank, Kind::kReceive));
       }},
      {"pass on in a group with receiving",
       {V::kNotHeld},
       [](Mutant& m) {
         const Place send = m.Pick(IsForward);
         m.Insert(send.rank, send.operation + 1, GroupEnd(2));
         m.Insert(send.rank, send.operation - 1, GroupBegin(0, 2));
       }},
      {"a ring in which all receive first",
       {V::kDeadlock},
       [](Mutant& m) {
         // The last rank of the chain sends on to the first, which waits for it
         // before it begins.
         const Place send = m.Pick([](const Operation& it) {
           return it.kind == Kind::kSend && it.channel == 1 &&
                  it.space == Space::kSource;
         });
         Operation receive = m.at(send);
         receive.kind = Kind::kReceive;
         receive.peer = m.num_ranks() - 1;
         receive.channel = 2;
         Operation last = m.at(send);
         last.peer = 0;
         last.channel = 2;
         last.space = Space::kTarget;
         m.Insert(0, send.operation, receive);
         const int chain_end = m.num_ranks() - 1;
         const Place end = m.PickOf(chain_end, [](const Operation& it) {
           return it.channel == kChainChannel;
         });
         m.Insert(chain_end, end.operation + 1, last);
       }},
      {"windows in another order on one rank",
       {V::kGroup, V::kDeadlock},
       [](Mutant& m) {
         const Place begin = m.Pick(Kind::kGroupBegin);
         auto& list = m.list(begin.rank);
         const auto first =
             list.begin() + m.IndexOf(begin.rank, Kind::kGroupBegin);
         const auto first_end = std::find_if(
             first, list.end(),
             [](const Operation& it) { return it.kind == Kind::kGroupEnd; });
         const auto second_end = std::find_if(
             first_end + 1, list.end(),
             [](const Operation& it) { return it.kind == Kind::kGroupEnd; });
         std::rotate(first, first_end + 1, second_end + 1);
       }},
      {"windows in another order, numbered anew",
       {V::kGroup, V::kDeadlock},
       [](Mutant& m) {
         const Place begin = m.Pick(Kind::kGroupBegin);
         auto& list = m.list(begin.rank);
         std::vector<Operation*> begins;
         for (Operation& it : list) {
           if (it.kind == Kind::kGroupBegin) begins.push_back(&it);
         }
         // The first window's messages in the last one's place.
         begins.front()->window = begins.back()->window + 1;
         const auto first =
             list.begin() + m.IndexOf(begin.rank, Kind::kGroupBegin);
         const auto first_end = std::find_if(
             first, list.end(),
             [](const Operation& it) { return it.kind == Kind::kGroupEnd; });
         auto last_end = list.end() - 1;
         while (last_end->kind != Kind::kGroupEnd) --last_end;
         std::rotate(first, first_end + 1, last_end + 1);
       }},
      {"a message in a later window at one end",
       {V::kGroup},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         const Operation moved = m.at(send);
         m.Erase(send);
         auto& list = m.list(send.rank);
         const auto join = std::find_if(
             list.begin() + send.operation, list.end(),
             [](const Operation& it) { return it.kind == Kind::kJoin; });
         const std::vector<Operation> group = {GroupBegin(99, moved.lane),
                                               moved, GroupEnd(moved.lane)};
         list.insert(join, group.begin(), group.end());
       }},
      {"a message outside its group at one end",
       {V::kGroup},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         const Operation moved = m.at(send);
         m.Erase(send);
         int i = send.operation;
         while (m.list(send.rank)[i].kind != Kind::kGroupEnd) ++i;
         m.Insert(send.rank, i + 1, moved);
       }},
      {"a group that never ends",
       {V::kMalformed},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kGroupEnd)); }},
      {"a group that never begins",
       {V::kMalformed},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kGroupBegin)); }},
      {"a group of too many operations",
       {V::kGroup},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         const Place receive = m.ReceiveOf(send);
         for (int i = 0; i < 256; ++i) {
           m.Insert(send.rank, send.operation, m.at(send));
           m.Insert(receive.rank, receive.operation, m.at(receive));
         }
       }},
      {"a copy in a group",
       {V::kMalformed},
       [](Mutant& m) {
         const Place begin = m.Pick(Kind::kGroupBegin);
         Operation copy = Copy({m.sample().claims.ranks[begin.rank].source[0]},
                               40, m.at(begin).lane);
         m.Insert(begin.rank, begin.operation + 1, copy);
       }},
      {"one peer's messages in two lanes",
       {V::kMalformed},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         Operation other = m.at(send);
         other.lane = 7;
         m.list(send.rank).push_back(other);
       }},
  };
}

// Memory, and who is who.
std::vector<Mutation> MemoryMutations() {
  using V = ViolationKind;
  return {
      {"free before sending",
       {V::kReleased},
       [](Mutant& m) {
         const Place free = m.Pick(Kind::kFree);
         m.Move(free, 0);
       }},
      {"free while it may be sent",
       {V::kReleased},
       [](Mutant& m) {
         // Without the last join frees run beside the exchange.
         const Place free = m.Pick([](const Operation& it) {
           return it.kind == Kind::kFree && it.pieces[0].region.dims() == 2;
         });
         int i = free.operation;
         while (m.list(free.rank)[i].kind != Kind::kJoin) --i;
         m.Erase({free.rank, i});
       }},
      {"free twice",
       {V::kReleased},
       [](Mutant& m) {
         const Place free = m.Pick(Kind::kFree);
         m.Insert(free.rank, free.operation, m.at(free));
       }},
      {"free what was adopted",
       {V::kReleased},
       [](Mutant& m) {
         Operation free = m.at(m.Pick(Kind::kAdopt));
         free.kind = Kind::kFree;
         m.list(0).push_back(free);
       }},
      {"free what is another rank's",
       {V::kNotHeld},
       [](Mutant& m) {
         const Place free = m.Pick([](const Operation& it) {
           return it.kind == Kind::kFree && it.pieces[0].region.dims() == 2;
         });
         m.list((free.rank + 1) % m.num_ranks()).push_back(m.at(free));
       }},
      {"send what is another rank's",
       {V::kNotHeld},
       [](Mutant& m) {
         const Place send = m.Pick(IsExchange);
         const Place other = m.Pick([&](const Operation& it) {
           return it.kind == Kind::kFree && it.pieces[0].region.dims() == 2 &&
                  !it.pieces[0].region.Contains(m.at(send).pieces[0].region);
         });
         const Operation moved = m.at(other);
         Operation& receive = m.at(m.ReceiveOf(send));
         m.at(send).pieces = receive.pieces = moved.pieces;
         m.at(send).bytes = receive.bytes = moved.bytes;
       }},
      {"drop an allocation",
       {V::kNotAllocated},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kAllocate)); }},
      {"allocate after receiving",
       {V::kNotAllocated},
       [](Mutant& m) {
         const Place allocate = m.Pick(Kind::kAllocate);
         m.Move(allocate, static_cast<int>(m.list(allocate.rank).size()));
       }},
      {"allocate twice",
       {V::kOverlap},
       [](Mutant& m) {
         const Place allocate = m.Pick(Kind::kAllocate);
         m.Insert(allocate.rank, allocate.operation, m.at(allocate));
       }},
      {"allocate what is not wanted",
       {V::kNotAllocated},
       [](Mutant& m) { Mutant::Shift(m.at(m.Pick(Kind::kAllocate))); }},
      {"drop a copy",
       {V::kGap},
       [](Mutant& m) {
         const Place copy = m.Pick(Kind::kCopy);
         m.Erase(copy);
       }},
      {"copy twice",
       {V::kOverlap},
       [](Mutant& m) {
         const Place copy = m.Pick(Kind::kCopy);
         m.Insert(copy.rank, copy.operation, m.at(copy));
       }},
      {"drop an adoption",
       {V::kGap},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kAdopt)); }},
      {"adopt twice",
       {V::kReleased, V::kOverlap},
       [](Mutant& m) {
         const Place adopt = m.Pick(Kind::kAdopt);
         m.Insert(adopt.rank, adopt.operation, m.at(adopt));
       }},
      {"reserve more than there is",
       {V::kOverBudget},
       [](Mutant& m) {
         const int rank = m.Pick(Kind::kReserve).rank;
         for (Operation& it : m.list(rank)) {
           if (it.kind == Kind::kReserve || it.kind == Kind::kRelease) {
             ++it.bytes;
           }
         }
       }},
      {"one buffer more",
       {V::kOverBudget},
       [](Mutant& m) {
         const Place release = m.Pick(Kind::kRelease);
         m.Insert(release.rank, 0, Reserve(1, 1));
         m.list(release.rank).push_back(Release(1, 1));
       }},
      {"drop a release",
       {V::kLeak},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kRelease)); }},
      {"release twice",
       {V::kMalformed},
       [](Mutant& m) {
         const Place release = m.Pick(Kind::kRelease);
         m.Insert(release.rank, release.operation, m.at(release));
       }},
      {"memory outside lane 0",
       {V::kMalformed},
       [](Mutant& m) { m.at(m.Pick(Kind::kFree)).lane = 1; }},
      {"another plan's digest",
       {V::kWrongDigest},
       [](Mutant& m) { ++m.sample().programs[1].plan_digest.low; }},
      {"programs of two ranks swapped",
       {V::kMalformed},
       [](Mutant& m) {
         std::swap(m.sample().programs[0], m.sample().programs[1]);
       }},
      {"one program too few",
       {V::kMalformed},
       [](Mutant& m) { m.sample().programs.pop_back(); }},
      {"a message to oneself",
       {V::kMalformed},
       [](Mutant& m) {
         const Place send = m.Pick(Kind::kSend);
         m.at(send).peer = send.rank;
       }},
      {"a message to nobody",
       {V::kMalformed},
       [](Mutant& m) { m.at(m.Pick(Kind::kSend)).peer = m.num_ranks(); }},
      {"an unknown tensor",
       {V::kMalformed},
       [](Mutant& m) { m.at(m.Pick(Kind::kSend)).pieces[0].tensor = 99; }},
      {"an empty piece",
       {V::kMalformed},
       [](Mutant& m) {
         m.at(m.Pick(Kind::kSend)).pieces[0].region = *vps::Box::Whole({0});
       }},
  };
}

// The two ends of the hop of the chain that begins at `rank`.
void EraseHop(Mutant& m, int rank) {
  const Place send = m.PickOf(rank, [](const Operation& it) {
    return it.kind == Kind::kSend && it.channel == kChainChannel;
  });
  m.Erase(m.ReceiveOf(send));
  m.Erase(send);
}

bool IsStaged(const Operation& it) { return it.into == Space::kStaging; }
bool IsHandedOn(const Operation& it) { return it.space == Space::kStaging; }

// Copies, zeros, chains and buffers.
std::vector<Mutation> RelayMutations() {
  using V = ViolationKind;
  return {
      {"drop a hop of a chain",
       {V::kNotHeld, V::kGap},
       [](Mutant& m) { EraseHop(m, 1); }},
      {"drop the last hop of a chain",
       {V::kGap},
       [](Mutant& m) { EraseHop(m, m.num_ranks() - 2); }},
      {"a chain turned round",
       {V::kNotHeld},
       [](Mutant& m) {
         // What went from r to r + 1 goes from r + 1 to r: the first rank has
         // it from the second, and so on, and nobody has it at first.
         for (int rank = 0; rank < m.num_ranks(); ++rank) {
           for (Operation& it : m.list(rank)) {
             if (it.channel != kChainChannel) continue;
             it.kind = it.kind == Kind::kSend ? Kind::kReceive : Kind::kSend;
             it.space =
                 it.kind == Kind::kSend ? Space::kTarget : Space::kSource;
           }
         }
       }},
      {"a chain that begins in the middle",
       {V::kNotHeld},
       [](Mutant& m) { m.at(m.PickOf(1, IsForward)).space = Space::kSource; }},
      {"pass on what is only to be received",
       {V::kNotHeld},
       [](Mutant& m) {
         const Place send = m.Pick([](const Operation& it) {
           return IsExchange(it) && it.space == Space::kSource;
         });
         m.at(send).space = Space::kTarget;
       }},
      {"read another copy to send",
       {V::kNotHeld},
       [](Mutant& m) { ++m.at(m.Pick(IsExchange)).pieces[0].copy; }},
      {"receive into another copy",
       {V::kNotAllocated},
       [](Mutant& m) {
         int& copy = m.at(m.ReceiveOf(m.Pick(IsExchange))).pieces[0].copy;
         copy = 1 - copy;
       }},
      {"copy another copy",
       {V::kNotHeld},
       [](Mutant& m) { m.at(m.Pick(Kind::kCopy)).source_copy = 2; }},
      {"copy into another copy",
       {V::kNotAllocated, V::kOverlap},
       [](Mutant& m) {
         int& copy = m.at(m.Pick(Kind::kCopy)).pieces[0].copy;
         copy = 1 - copy;
       }},
      {"adopt another copy",
       {V::kNotHeld},
       [](Mutant& m) { m.at(m.Pick(Kind::kAdopt)).pieces[0].copy = 1; }},
      {"a copy that can't be",
       {V::kMalformed},
       [](Mutant& m) { m.at(m.Pick(Kind::kReceive)).pieces[0].copy = -1; }},
      {"a copy in a send",
       {V::kMalformed},
       [](Mutant& m) { m.at(m.Pick(Kind::kSend)).source_copy = 1; }},
      {"skip a zero",
       {V::kGap},
       [](Mutant& m) { m.Erase(m.Pick(Kind::kZero)); }},
      {"zero twice",
       {V::kOverlap},
       [](Mutant& m) {
         const Place zero = m.Pick(Kind::kZero);
         m.Insert(zero.rank, zero.operation, m.at(zero));
       }},
      {"zero what has content",
       {V::kWrongZero},
       [](Mutant& m) {
         const Place copy = m.Pick(Kind::kCopy);
         m.at(copy) = Zero(m.at(copy).pieces, m.at(copy).bytes);
       }},
      {"zero before there is room",
       {V::kNotAllocated},
       [](Mutant& m) { m.Move(m.Pick(Kind::kZero), 0); }},
      {"fill what is to be zero",
       {V::kWrongZero},
       [](Mutant& m) {
         const Place zero = m.Pick(Kind::kZero);
         m.at(zero).kind = Kind::kCopy;
       }},
      {"hand on before it is there",
       {V::kNotHeld},
       [](Mutant& m) {
         const Place send = m.Pick(IsHandedOn);
         m.Move(send, send.operation - 1);
       }},
      {"hand on in another lane than it comes",
       {V::kNotHeld},
       [](Mutant& m) { m.at(m.Pick(IsHandedOn)).lane = 9; }},
      {"hand on what never came",
       {V::kNotHeld},
       [](Mutant& m) {
         Operation& it = m.at(m.Pick(IsHandedOn));
         it.pieces[0].copy = 1;
       }},
      {"a buffer that is too small",
       {V::kNotAllocated},
       [](Mutant& m) {
         for (Operation& it : m.list(1)) {
           const bool ends =
               it.kind == Kind::kReserve || it.kind == Kind::kRelease;
           if (ends && it.buffer == kHandBuffer) it.bytes -= 2;
         }
       }},
      {"a buffer that nobody reserved",
       {V::kNotAllocated},
       [](Mutant& m) { m.at(m.Pick(IsStaged)).buffer = 8; }},
      {"hand on from a buffer that nobody reserved",
       {V::kNotAllocated},
       [](Mutant& m) { m.at(m.Pick(IsHandedOn)).buffer = 8; }},
      {"a buffer that is released before it is handed on",
       {V::kReleased},
       [](Mutant& m) {
         const Place release = m.PickOf(1, [](const Operation& it) {
           return it.kind == Kind::kRelease && it.buffer == kHandBuffer;
         });
         const Place hand = m.Pick(IsHandedOn);
         m.Move(release, hand.operation);
         m.Insert(1, hand.operation, Join());  // it has come by then
       }},
      {"a buffer that is released too early",
       {V::kReleased},
       [](Mutant& m) {
         const Place release = m.PickOf(1, [](const Operation& it) {
           return it.kind == Kind::kRelease && it.buffer == kHandBuffer;
         });
         m.Move(release, m.Pick(IsStaged).operation);
       }},
      {"a buffer that is reserved too late",
       {V::kNotAllocated},
       [](Mutant& m) {
         const Place reserve = m.PickOf(1, [](const Operation& it) {
           return it.kind == Kind::kReserve && it.buffer == kHandBuffer;
         });
         m.Move(reserve, m.Pick(IsHandedOn).operation + 1);
       }},
      {"the same into a buffer twice",
       {V::kOverlap},
       [](Mutant& m) {
         const Place receive = m.Pick(IsStaged);
         const Place send = m.PickOf(
             0, [](const Operation& it) { return it.channel == kHandChannel; });
         m.Insert(1, receive.operation, m.at(receive));
         m.Insert(0, send.operation, m.at(send));
       }},
      {"receive into source memory",
       {V::kMalformed},
       [](Mutant& m) { m.at(m.Pick(Kind::kReceive)).into = Space::kSource; }},
  };
}

TEST(MutationTest, AllAreCaught) {
  std::mt19937_64 random = TestRandom(31);
  std::vector<Mutation> mutations = MessageMutations();
  for (auto& more : {OrderMutations(), MemoryMutations(), RelayMutations()}) {
    mutations.insert(mutations.end(), more.begin(), more.end());
  }
  EXPECT_EQ(mutations.size(), 84);  // as many as check/README.md lists
  for (const Mutation& mutation : mutations) {
    for (int i = 0; i < 50; ++i) {
      SCOPED_TRACE(mutation.name);
      Mutant mutant(MakeSample(random), random);
      mutation.mutate(mutant);
      const Sample& sample = mutant.sample();
      const Violations violations =
          CheckPrograms(sample.claims, sample.programs);
      EXPECT_TRUE(std::any_of(violations.begin(), violations.end(),
                              [&](const Violation& it) {
                                return mutation.found_as.count(it.kind) > 0;
                              }))
          << "found only " << ::testing::PrintToString(violations);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
