// The planner against an oracle that enumerates elements, on random pairs of
// worlds. Each law is one function that returns what is wrong, or "".
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/brute_force.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_case.h"

namespace dynatrain::transition {
namespace {

constexpr int kCases = 12000;

std::string Text(const Route& route) {
  return (std::ostringstream() << route).str();
}

// Everything about one case, computed once.
struct Subject {
  PlanCase plan_case;
  PlanInput input;
  Holdings before;  // by source rank
  Holdings after;   // by target rank
  std::map<uint64_t, ProcessPlan> plans;

  Elements ElementsOf(const Route& route) const {
    const auto vector = [](absl::Span<const int64_t> span) {
      return std::vector<int64_t>(span.begin(), span.end());
    };
    return BruteForceBox(plan_case.tensors[route.tensor].shape,
                         vector(route.region.origin()),
                         vector(route.region.shape()));
  }
  int64_t ItemBytes(int tensor) const { return tensor % 2 == 0 ? 4 : 1; }
};

Subject MakeSubject(const PlanCase& plan_case) {
  Subject subject{plan_case,
                  *MakeInput(plan_case),
                  BruteForceHoldings(plan_case, plan_case.source),
                  BruteForceHoldings(plan_case, plan_case.target),
                  {}};
  std::set<uint64_t> ids(plan_case.source.ids.begin(),
                         plan_case.source.ids.end());
  ids.insert(plan_case.target.ids.begin(), plan_case.target.ids.end());
  for (uint64_t id : ids) {
    // Its own input: nothing may hang on sharing one.
    subject.plans[id] = *PlanForProcess(*MakeInput(plan_case), id);
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

// Each element that a target rank holds comes once, from one that had it, and
// from itself if it had it.
std::string EachElementOnce(const Subject& s) {
  for (size_t rank = 0; rank < s.after.size(); ++rank) {
    const uint64_t id = s.plan_case.target.ids[rank];
    const auto& old_ids = s.plan_case.source.ids;
    const auto own = std::find(old_ids.begin(), old_ids.end(), id);
    std::vector<Elements> seen(s.plan_case.tensors.size());
    for (const Route& route : RoutesTo(s.plans.at(id))) {
      if (route.target_rank != static_cast<int>(rank)) {
        return absl::StrCat("wrong target: ", Text(route));
      }
      const Elements elements = s.ElementsOf(route);
      if (elements.empty()) return absl::StrCat("empty: ", Text(route));
      for (int64_t e : elements) {
        if (!seen[route.tensor].insert(e).second) {
          return absl::StrCat("element ", e, " comes twice: ", Text(route));
        }
        if (!s.before[route.source_rank][route.tensor].contains(e)) {
          return absl::StrCat("source lacks element ", e, ": ", Text(route));
        }
        if (own != old_ids.end() &&
            route.source_rank != own - old_ids.begin() &&
            s.before[own - old_ids.begin()][route.tensor].contains(e)) {
          return absl::StrCat("held already, element ", e, ": ", Text(route));
        }
      }
    }
    for (size_t t = 0; t < seen.size(); ++t) {
      if (seen[t] != s.after[rank][t]) {
        return absl::StrCat("rank ", rank, " gets ", seen[t].size(), " of ",
                            s.after[rank][t].size(), " elements of tensor ", t);
      }
    }
  }
  return "";
}

// The oracle's own count of what each rank lacks.
std::string BytesAreMinimal(const Subject& s) {
  for (size_t rank = 0; rank < s.after.size(); ++rank) {
    const uint64_t id = s.plan_case.target.ids[rank];
    const auto& old_ids = s.plan_case.source.ids;
    const auto own = std::find(old_ids.begin(), old_ids.end(), id);
    int64_t lacking = 0, kept = 0;
    for (size_t t = 0; t < s.plan_case.tensors.size(); ++t) {
      for (int64_t e : s.after[rank][t]) {
        const bool held = own != old_ids.end() &&
                          s.before[own - old_ids.begin()][t].contains(e);
        (held ? kept : lacking) += s.ItemBytes(static_cast<int>(t));
      }
    }
    const ByteTotals& bytes = s.plans.at(id).bytes;
    if (bytes.received_bytes != lacking || bytes.minimal_bytes != lacking ||
        bytes.kept_bytes != kept) {
      return absl::StrCat("process ", id, " receives ", bytes.received_bytes,
                          ", says minimal ", bytes.minimal_bytes, ", keeps ",
                          bytes.kept_bytes, "; should be ", lacking, ", ",
                          lacking, ", ", kept);
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

// A holder in the target's member is preferred to any outside of it.
std::string MembersComeFirst(const Subject& s) {
  const auto member = [&](uint64_t id) {
    return id / s.plan_case.ranks_per_member;
  };
  for (const auto& [id, plan] : s.plans) {
    for (const PeerExchange& peer : plan.peers) {
      if (member(peer.peer.id) == member(id)) continue;
      for (const Route& route : peer.receive) {
        const int64_t element = *s.ElementsOf(route).begin();
        for (size_t r = 0; r < s.before.size(); ++r) {
          if (member(s.plan_case.source.ids[r]) == member(id) &&
              s.before[r][route.tensor].contains(element)) {
            return absl::StrCat("rank ", r, " is nearer: ", Text(route));
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
      const int t = local.route.tensor;
      const Elements& now = s.after[local.route.target_rank][t];
      const bool same = s.before[local.route.source_rank][t] == now;
      if (local.adopted != same) {
        return absl::StrCat("adopted is wrong: ", Text(local.route));
      }
      if (same) adopted_bytes += now.size() * s.ItemBytes(t);
    }
    if (plan.bytes.adopted_bytes != adopted_bytes) return "adopted_bytes";
  }
  return "";
}

std::string FirstBrokenLaw(const PlanCase& plan_case) {
  const Subject subject = MakeSubject(plan_case);
  for (const auto law :
       {EachElementOnce, BytesAreMinimal, EndsMirror, PeersAreInXorOrder,
        MembersComeFirst, AdoptsWhatIsUnchanged}) {
    if (std::string wrong = law(subject); !wrong.empty()) return wrong;
  }
  return "";
}

TEST(ProcessPlanProperty, KeepsEveryLawOnRandomPairsOfWorlds) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < kCases; ++i) {
    const PlanCase plan_case = RandomCase(random);
    if (FirstBrokenLaw(plan_case).empty()) continue;
    const PlanCase small = Shrink(plan_case, [](const PlanCase& smaller) {
      return !FirstBrokenLaw(smaller).empty();
    });
    FAIL() << FirstBrokenLaw(small) << "\n" << small << "\ncase " << i;
  }
}

TEST(ProcessPlanProperty, MovesNothingToTheSameWorld) {
  std::mt19937_64 random = TestRandom(2);
  for (int i = 0; i < 500; ++i) {
    PlanCase plan_case = RandomCase(random);
    plan_case.target = plan_case.source;
    const Subject subject = MakeSubject(plan_case);
    for (const auto& [id, plan] : subject.plans) {
      EXPECT_TRUE(plan.peers.empty()) << plan_case;
      EXPECT_EQ(plan.bytes.adopted_bytes, plan.bytes.kept_bytes);
    }
  }
}

TEST(ProcessPlanProperty, DigestTellsWorldsApart) {
  std::mt19937_64 random = TestRandom(3);
  for (int i = 0; i < 500; ++i) {
    const PlanCase plan_case = RandomCase(random);
    const Fingerprint digest = MakeInput(plan_case)->AgreementDigest();
    EXPECT_EQ(MakeInput(plan_case)->AgreementDigest(), digest);
    PlanCase other = plan_case;
    other.target.ids[0] += 1000;
    EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << plan_case;
    other = plan_case;
    ++other.min_sender_bytes;
    EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << plan_case;
    other = plan_case;
    other.ranks_per_member = plan_case.ranks_per_member == 1 ? 1000 : 1;
    EXPECT_NE(MakeInput(other)->AgreementDigest(), digest) << plan_case;
  }
}

}  // namespace
}  // namespace dynatrain::transition
