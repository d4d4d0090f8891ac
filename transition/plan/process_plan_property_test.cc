// The planner against an oracle that enumerates elements, on random pairs of
// worlds. Each law is one function that returns what is wrong, or "".
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "base/shrink.h"
#include "gtest/gtest.h"
#include "transition/plan/agreement.h"
#include "transition/plan/cover.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "vps/layout/brute_force.h"

namespace dynatrain::transition {
namespace {

// Of each kind of layouts.
int NumCases() {
  return std::getenv("DYNATRAIN_LONG") == nullptr ? 5000 : 100000;
}

std::string Text(const Route& route) {
  return (std::ostringstream() << route).str();
}

// Row-major positions of elements. Padding doesn't change them: only the number
// of rows differs.
using Elements = std::set<int64_t>;

// What every rank has, by the oracle: [tensor][copy][rank].
using Memory =
    std::vector<std::vector<std::vector<std::optional<vps::OwnMemory>>>>;

Memory MemoryOf(const vps::LayoutCase& layout) {
  Memory memory;
  for (int t = 0; t < layout.tensors.size(); ++t) {
    memory.emplace_back();
    for (int c = 0; c < layout.tensors[t].copies.size(); ++c) {
      memory[t].emplace_back();
      for (int rank = 0; rank < layout.world_size(); ++rank) {
        memory[t][c].push_back(vps::BruteForceMemory(layout, rank, t, c));
      }
    }
  }
  return memory;
}

bool Has(const std::optional<vps::OwnMemory>& memory, int64_t element) {
  return memory.has_value() &&
         std::find(memory->elements.begin(), memory->elements.end(), element) !=
             memory->elements.end();
}

// Everything about one case, computed once.
struct Subject {
  PairCase pair;
  PlanInput input;
  Memory before;
  Memory after;
  std::map<uint64_t, ProcessPlan> plans;
  std::map<uint64_t, Agreement> agreements;  // of each one's own input

  int num_tensors() const { return pair.target.layout.tensors.size(); }
  Elements ElementsOf(int tensor, const vps::Box& box) const {
    const std::vector<int64_t>& shape =
        pair.target.layout.tensors[tensor].shape;
    std::vector<int64_t> flat = {0};
    for (int dim = 0; dim < box.dims(); ++dim) {
      std::vector<int64_t> longer;
      for (int64_t prefix : flat) {
        for (int64_t i = 0; i < box.extent(dim); ++i) {
          longer.push_back(prefix * shape[dim] + box.origin(dim) + i);
        }
      }
      flat = longer;
    }
    return {flat.begin(), flat.end()};
  }
  Elements ElementsOf(const Route& route) const {
    return ElementsOf(route.tensor, route.region);
  }
  int64_t ItemBytes(int tensor) const { return tensor % 2 == 0 ? 4 : 1; }
  // The source rank of a target rank's process; -1 if it joins.
  int OwnRank(int target_rank) const {
    const auto& ids = pair.source.ids;
    const auto it =
        std::find(ids.begin(), ids.end(), pair.target.ids[target_rank]);
    return it == ids.end() ? -1 : static_cast<int>(it - ids.begin());
  }
  // Whether a source rank has the element, in any copy.
  bool HeldBefore(int rank, int tensor, int64_t element) const {
    if (rank < 0) return false;
    for (const auto& copy : before[tensor]) {
      if (Has(copy[rank], element)) return true;
    }
    return false;
  }
  // Whether the source world has the element at all.
  bool Exists(int tensor, int64_t element) const {
    const auto& from = pair.source.layout.tensors[tensor].shape;
    const auto& to = pair.target.layout.tensors[tensor].shape;
    if (from == to) return true;
    int64_t row = 1;
    for (size_t d = 1; d < to.size(); ++d) row *= to[d];
    return element / row < from[0];
  }
};

Subject MakeSubject(const PairCase& pair) {
  Subject subject{pair,
                  *MakeInput(pair),
                  MemoryOf(pair.source.layout),
                  MemoryOf(pair.target.layout),
                  {},
                  {}};
  std::set<uint64_t> ids(pair.source.ids.begin(), pair.source.ids.end());
  ids.insert(pair.target.ids.begin(), pair.target.ids.end());
  for (uint64_t id : ids) {
    // Its own input: nothing may hang on sharing one.
    const PlanInput own = *MakeInput(pair);
    subject.plans[id] = *PlanForProcess(own, id);
    subject.agreements[id] = own.agreement();
  }
  return subject;
}

std::vector<Route> RoutesTo(const ProcessPlan& plan) {
  std::vector<Route> routes;
  for (const LocalRoute& local : plan.local) routes.push_back(local.route);
  for (const PeerExchange& peer : plan.peers) {
    routes.insert(routes.end(), peer.receive.begin(), peer.receive.end());
  }
  return routes;
}

// What is wrong with one route to `rank`, but that an element comes twice.
std::string WrongRoute(const Subject& s, int rank, const Route& route) {
  if (route.target_rank != rank) return "wrong target";
  const int own = s.OwnRank(rank);
  const Elements elements = s.ElementsOf(route);
  if (elements.empty()) return "empty";
  for (int64_t e : elements) {
    if (!Has(s.before[route.tensor][route.source_copy][route.source_rank], e)) {
      return absl::StrCat("source lacks element ", e);
    }
    if (route.source_rank != own && s.HeldBefore(own, route.tensor, e)) {
      return absl::StrCat("held already, element ", e);
    }
  }
  return "";
}

// Each element that a target rank holds comes once, from one that had it, and
// from itself if it had it; what nobody had becomes zero.
std::string EachElementOnce(const Subject& s) {
  for (int rank = 0; rank < s.pair.target.ids.size(); ++rank) {
    const ProcessPlan& plan = s.plans.at(s.pair.target.ids[rank]);
    std::map<std::pair<int, int>, Elements> seen;  // by tensor and copy
    for (const Route& route : RoutesTo(plan)) {
      const std::string wrong = WrongRoute(s, rank, route);
      if (!wrong.empty()) return absl::StrCat(wrong, ": ", Text(route));
      for (int64_t e : s.ElementsOf(route)) {
        if (!seen[{route.tensor, route.target_copy}].insert(e).second) {
          return absl::StrCat("element ", e, " comes twice: ", Text(route));
        }
      }
    }
    for (const ZeroRegion& zero : plan.zeros) {
      for (int64_t e : s.ElementsOf(zero.tensor, zero.region)) {
        if (s.Exists(zero.tensor, e) ||
            !seen[{zero.tensor, zero.copy}].insert(e).second) {
          return absl::StrCat("element ", e, " is zeroed");
        }
      }
    }
    for (int t = 0; t < s.num_tensors(); ++t) {
      for (int c = 0; c < s.after[t].size(); ++c) {
        const auto& memory = s.after[t][c][rank];
        const Elements wanted =
            memory.has_value()
                ? Elements(memory->elements.begin(), memory->elements.end())
                : Elements();
        if (seen[{t, c}] != wanted) {
          return absl::StrCat("rank ", rank, " gets ", seen[{t, c}].size(),
                              " of ", wanted.size(), " elements of tensor ", t,
                              " copy ", c);
        }
      }
    }
    const absl::Status cover = CheckCover(s.input, plan);
    if (!cover.ok()) return std::string(cover.message());
  }
  return "";
}

// The oracle's own count of what each rank lacks.
std::string BytesAreMinimal(const Subject& s) {
  for (int rank = 0; rank < s.pair.target.ids.size(); ++rank) {
    int64_t lacking = 0, kept = 0, zero = 0;
    for (int t = 0; t < s.num_tensors(); ++t) {
      for (const auto& copy : s.after[t]) {
        if (!copy[rank].has_value()) continue;
        for (int64_t e : copy[rank]->elements) {
          (!s.Exists(t, e)                       ? zero
           : s.HeldBefore(s.OwnRank(rank), t, e) ? kept
                                                 : lacking) += s.ItemBytes(t);
        }
      }
    }
    const uint64_t id = s.pair.target.ids[rank];
    const ByteTotals& bytes = s.plans.at(id).bytes;
    if (bytes.received_bytes != lacking || bytes.minimal_bytes != lacking ||
        bytes.kept_bytes != kept || bytes.zero_bytes != zero) {
      return absl::StrCat("process ", id, " receives ", bytes.received_bytes,
                          ", says minimal ", bytes.minimal_bytes, ", keeps ",
                          bytes.kept_bytes, ", zeroes ", bytes.zero_bytes,
                          "; should be ", lacking, ", ", lacking, ", ", kept,
                          ", ", zero);
    }
  }
  return "";
}

// What a sends to b is in the same order what b receives from a; the peers
// come in ascending, symmetric steps; sums of hashes agree.
std::string EndsMirror(const Subject& s) {
  uint64_t sent_hash = 0, received_hash = 0;
  for (const auto& [id, plan] : s.plans) {
    sent_hash += plan.sent_hash;
    received_hash += plan.received_hash;
    for (const PeerExchange& peer : plan.peers) {
      const auto& others = s.plans.at(peer.peer.id).peers;
      const auto mine = std::find_if(
          others.begin(), others.end(),
          [&, id = id](const PeerExchange& p) { return p.peer.id == id; });
      if (mine == others.end()) {
        return absl::StrCat(peer.peer.id, " does not know its peer ", id);
      }
      if (mine->receive != peer.send || mine->send != peer.receive ||
          mine->receive_blobs != peer.send_blobs ||
          mine->send_blobs != peer.receive_blobs ||
          mine->receive_bytes != peer.send_bytes) {
        return absl::StrCat("lists of ", id, " and ", peer.peer.id, " differ");
      }
      if (!std::is_sorted(peer.send.begin(), peer.send.end())) {
        return absl::StrCat("list of ", id, " isn't sorted");
      }
    }
  }
  return sent_hash == received_hash ? "" : "hashes differ";
}

// What each process finds out alone, balance included, is what all find out.
std::string AllAgree(const Subject& s) {
  for (const auto& [id, agreement] : s.agreements) {
    if (agreement == s.input.agreement()) continue;
    return absl::StrCat(
        "process ", id, " differs in: ",
        AgreementDifference(agreement.Text(), s.input.agreement().Text()));
  }
  return "";
}

std::string PeersAreInXorOrder(const Subject& s) {
  const auto index_of = [&](const PeerExchange& peer) {
    return peer.peer_source_rank >= 0
               ? s.input.UnionIndexOfSource(peer.peer_source_rank)
               : s.input.UnionIndexOfTarget(peer.peer_target_rank);
  };
  for (const auto& [id, plan] : s.plans) {
    const int own = plan.source_rank >= 0
                        ? s.input.UnionIndexOfSource(plan.source_rank)
                        : s.input.UnionIndexOfTarget(plan.target_rank);
    int last = 0;
    for (const PeerExchange& peer : plan.peers) {
      const int step = own ^ index_of(peer);
      if (step <= last) return absl::StrCat("order of ", id);
      last = step;
    }
  }
  return "";
}

// Whether a source rank in the target process's group has the element.
bool IsInGroup(const Subject& s, uint64_t id, Tier tier, uint32_t group,
               const Route& route, int64_t element) {
  const auto& copy = s.before[route.tensor][route.source_copy];
  for (size_t rank = 0; rank < copy.size(); ++rank) {
    const Process process = ProcessOf(s.pair, s.pair.source.ids[rank]);
    if (process.id != id && GroupOf(process, tier) == group &&
        Has(copy[rank], element)) {
      return true;
    }
  }
  return false;
}

// What comes from another process comes from the nearest group of the target's
// that has it.
std::string NearestComeFirst(const Subject& s) {
  for (const auto& [id, plan] : s.plans) {
    const Process own = ProcessOf(s.pair, id);
    for (const PeerExchange& peer : plan.peers) {
      const Process other = ProcessOf(s.pair, peer.peer.id);
      for (const Route& route : peer.receive) {
        const int64_t element = *s.ElementsOf(route).begin();
        for (const Tier tier : kTiers) {
          const auto group = GroupOf(own, tier);
          if (!group.has_value()) continue;
          if (GroupOf(other, tier) == group) break;
          if (IsInGroup(s, id, tier, *group, route, element)) {
            return absl::StrCat("tier ", static_cast<int>(tier),
                                " is nearer: ", Text(route));
          }
        }
      }
    }
  }
  return "";
}

std::string AdoptsWhatIsUnchanged(const Subject& s) {
  for (const auto& [id, plan] : s.plans) {
    int64_t adopted_bytes = 0;
    for (const LocalRoute& local : plan.local) {
      const Route& route = local.route;
      const auto& now =
          s.after[route.tensor][route.target_copy][route.target_rank];
      const auto& copies = s.before[route.tensor];
      const bool same =
          route.target_copy < copies.size() &&
          copies[route.target_copy][route.source_rank].has_value() &&
          copies[route.target_copy][route.source_rank]->elements ==
              now->elements &&
          copies[route.target_copy][route.source_rank]->local_shape ==
              now->local_shape;
      if (local.adopted != same ||
          (same && route.source_copy != route.target_copy)) {
        return absl::StrCat("adopted is wrong: ", Text(route));
      }
      if (same) {
        adopted_bytes +=
            route.region.num_elements() * s.ItemBytes(route.tensor);
      }
    }
    if (plan.bytes.adopted_bytes != adopted_bytes) return "adopted_bytes";
  }
  return "";
}

std::string FirstBrokenLaw(const PairCase& pair) {
  const Subject subject = MakeSubject(pair);
  for (const auto law :
       {EachElementOnce, BytesAreMinimal, EndsMirror, AllAgree,
        PeersAreInXorOrder, NearestComeFirst, AdoptsWhatIsUnchanged}) {
    if (std::string wrong = law(subject); !wrong.empty()) return wrong;
  }
  return "";
}

// "" or what is wrong with the smallest case that fails as this one does.
std::string WrongWith(const PairCase& pair) {
  if (FirstBrokenLaw(pair).empty()) return "";
  const PairCase small = Shrink(
      pair, SmallerPairs,
      [](const PairCase& smaller) { return !FirstBrokenLaw(smaller).empty(); });
  return (std::ostringstream() << FirstBrokenLaw(small) << "\n" << small).str();
}

TEST(ProcessPlanProperty, KeepsEveryLawOnLayoutsMadeOfBoxes) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < NumCases(); ++i) {
    ASSERT_EQ(WrongWith(PairOf(RandomCase(random))), "") << "case " << i;
  }
}

TEST(ProcessPlanProperty, KeepsEveryLawOnAnyTwoLayouts) {
  std::mt19937_64 random = TestRandom(4);
  for (int i = 0; i < NumCases(); ++i) {
    ASSERT_EQ(WrongWith(RandomPair(random)), "") << "case " << i;
  }
}

// Many replicas: their number divides nothing, and most targets are served by
// one of many.
TEST(ProcessPlanProperty, KeepsEveryLawInLargerWorlds) {
  std::mt19937_64 random = TestRandom(5);
  for (int i = 0; i < NumCases() / 50; ++i) {
    ASSERT_EQ(WrongWith(RandomPair(random, /*max_ranks=*/48)), "")
        << "case " << i;
  }
}

TEST(ProcessPlanProperty, KeepsEveryLawAmongReplicas) {
  std::mt19937_64 random = TestRandom(6);
  for (int i = 0; i < NumCases() / 20; ++i) {
    ASSERT_EQ(WrongWith(ReplicatedPair(random)), "") << "case " << i;
  }
}

TEST(ProcessPlanProperty, MovesNothingToTheSameWorld) {
  std::mt19937_64 random = TestRandom(2);
  for (int i = 0; i < 500; ++i) {
    PairCase pair =
        i % 2 == 0 ? PairOf(RandomCase(random)) : RandomPair(random);
    pair.target = pair.source;
    const Subject subject = MakeSubject(pair);
    for (const auto& [id, plan] : subject.plans) {
      EXPECT_TRUE(plan.peers.empty()) << pair;
      EXPECT_EQ(plan.bytes.adopted_bytes, plan.bytes.kept_bytes) << pair;
    }
  }
}

TEST(ProcessPlanProperty, DigestTellsWorldsApart) {
  std::mt19937_64 random = TestRandom(3);
  for (int i = 0; i < 500; ++i) {
    const PairCase pair = RandomPair(random);
    const Fingerprint digest = MakeInput(pair)->AgreementDigest();
    EXPECT_EQ(MakeInput(pair)->AgreementDigest(), digest);
    PairCase other = pair;
    other.target.ids[0] += 1000;
    EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << pair;
    other = pair;
    ++other.min_sender_bytes;
    EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << pair;
    other = pair;
    other.ranks_per_member = pair.ranks_per_member == 1 ? 1000 : 1;
    EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << pair;
    for (int PairCase::*places :
         {&PairCase::ranks_per_device, &PairCase::ranks_per_node,
          &PairCase::rails}) {
      other = pair;
      other.*places = pair.*places == 0 ? 2 : 0;
      EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << pair;
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
