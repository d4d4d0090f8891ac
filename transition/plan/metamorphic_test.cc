// What must hold between plans, on random worlds of every kind of layout and on
// real ones: dense and MoE Megatron jobs with and without ZeRO, uneven stages,
// and PyTorch jobs whose sizes divide nothing.
#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/balance_senders.h"
#include "transition/plan/cover.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_pair.h"
#include "transition/plan/world_for_test.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/layout/megatron/random_job.h"
#include "vps/layout/named_layout.h"

namespace dynatrain::transition {
namespace {

std::vector<uint64_t> ProcessesOf(const PlanInput& input) {
  std::vector<uint64_t> ids;
  for (const World* world : {&input.source(), &input.target()}) {
    for (const Process& process : world->processes()) ids.push_back(process.id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

using Plans = std::map<uint64_t, ProcessPlan>;

Plans PlansOf(const PlanInput& input) {
  Plans plans;
  for (uint64_t id : ProcessesOf(input)) plans[id] = *PlanForProcess(input, id);
  return plans;
}

// "" or what is wrong with the plans of all processes taken together.
std::string WrongWithPlans(const PlanInput& input, const Plans& plans) {
  uint64_t sent = 0, received = 0;
  for (const auto& [id, plan] : plans) {
    sent += plan.sent_hash;
    received += plan.received_hash;
    if (plan.bytes.received_bytes != plan.bytes.minimal_bytes) {
      return absl::StrCat("process ", id, " receives more than it lacks");
    }
    if (absl::Status cover = CheckCover(input, plan); !cover.ok()) {
      return std::string(cover.message());
    }
    for (const PeerExchange& peer : plan.peers) {
      if (plan.target_rank < 0 && !peer.receive.empty()) {
        return absl::StrCat("process ", id, " leaves and receives");
      }
      if (plan.source_rank < 0 && !peer.send.empty()) {
        return absl::StrCat("process ", id, " joins and sends");
      }
    }
    if ((plan.target_rank < 0 || plan.source_rank < 0) && !plan.local.empty()) {
      return absl::StrCat("process ", id, " keeps what it can't");
    }
  }
  return sent == received ? "" : "hashes differ";
}

std::vector<Process> WithOffset(int size, int first, int per_member) {
  std::vector<Process> processes;
  for (int rank = first; rank < first + size; ++rank) {
    processes.push_back({static_cast<uint64_t>(rank) + 1,
                         static_cast<uint32_t>(rank / per_member)});
  }
  return processes;
}

// How the worlds of two layouts lie to each other.
struct Overlap {
  int per_member;  // ranks
  int offset;      // of the other world's first process
};

Overlap RandomOverlap(int ranks, std::mt19937_64& random) {
  const auto pick = [&](int high) {
    return std::uniform_int_distribution<int>(0, high)(random);
  };
  return {.per_member = 1 + pick(7), .offset = pick(ranks)};
}

// Checks both ways between the layouts, worlds overlapping in part, and that
// nothing moves from each to itself.
void CheckLayouts(const vps::Layout& a, const vps::Layout& b,
                  const Overlap& overlap) {
  const World before =
      *World::Create(a, WithOffset(a.world_size(), 0, overlap.per_member));
  const World after = *World::Create(
      b, WithOffset(b.world_size(), overlap.offset, overlap.per_member));
  for (const auto& [source, target] :
       {std::pair(&before, &after), std::pair(&after, &before)}) {
    const PlanInput input = *PlanInput::Create(*source, *target);
    EXPECT_EQ(WrongWithPlans(input, PlansOf(input)), "");
    const PlanInput balanced = BalanceSenders(input);
    EXPECT_EQ(WrongWithPlans(balanced, PlansOf(balanced)), "");
    const PlanInput same = *PlanInput::Create(*source, *source);
    for (const auto& [id, plan] : PlansOf(same)) {
      EXPECT_TRUE(plan.peers.empty());
      EXPECT_EQ(plan.bytes.adopted_bytes, plan.bytes.kept_bytes);
    }
  }
}

// A model in the layouts of two jobs, of which `other` may have been drawn with
// another model.
struct JobPair {
  vps::megatron::RandomJob job;
  vps::megatron::RandomJob other;
  Overlap overlap;

  absl::StatusOr<vps::Layout> LayoutOf(
      const vps::megatron::MegatronConfig& config) const {
    const auto layout = MakeMegatronLayout(
        job.model, config, *vps::StateList::Preset("bf16-mixed"));
    if (!layout.ok()) return layout.status();
    return layout->layout();
  }
};

std::ostream& operator<<(std::ostream& out, const JobPair& pair) {
  return out << pair.job << "\nto the layout of " << pair.other << "\n"
             << pair.overlap.per_member << " ranks per member, from process "
             << pair.overlap.offset;
}

std::vector<JobPair> SmallerJobPairs(const JobPair& pair) {
  std::vector<JobPair> smaller;
  for (vps::megatron::RandomJob& job : SmallerJobs(pair.job)) {
    smaller.push_back({std::move(job), pair.other, pair.overlap});
  }
  for (vps::megatron::RandomJob& other : SmallerJobs(pair.other)) {
    smaller.push_back({pair.job, std::move(other), pair.overlap});
  }
  return smaller;
}

TEST(Metamorphic, HoldsOnMegatronJobs) {
  std::mt19937_64 random = TestRandom(80);
  for (int pairs = 0, tries = 0; pairs < 25 && !HasFailure(); ++tries) {
    ASSERT_LT(tries, 4000);
    JobPair drawn = {vps::megatron::MakeRandomJob(random),
                     vps::megatron::MakeRandomJob(random),
                     {}};
    if (!drawn.LayoutOf(drawn.job.config).ok() ||
        !drawn.LayoutOf(drawn.other.config).ok()) {
      continue;
    }
    ++pairs;
    drawn.overlap =
        RandomOverlap(drawn.job.config.ranks().world_size(), random);
    CheckShrunk(drawn, SmallerJobPairs, [](const JobPair& pair) {
      const auto a = pair.LayoutOf(pair.job.config);
      const auto b = pair.LayoutOf(pair.other.config);
      if (a.ok() && b.ok()) CheckLayouts(*a, *b, pair.overlap);
    });
  }
}

TEST(Metamorphic, HoldsOnUnevenPyTorchJobs) {
  std::mt19937_64 random = TestRandom(81);
  const vps::Manifest model = *vps::Manifest::Create(
      {TensorForTest("w", {37, 11}, {{"tp", 0}, {"dp", 0}}),
       TensorForTest("v", {13, 29}, {{"tp", 1}, {"dp", 0}}),
       TensorForTest("norm", {7}, {{"dp", 0}}), TensorForTest("step", {}, {})});
  const char* const sizes[] = {"dp3,tp2", "dp5",      "tp7",  "dp2,tp3,rep2",
                               "rep3",    "dp4,rep2", "dp11", "tp2,rep5"};
  for (const char* a : sizes) {
    for (const char* b : sizes) {
      const auto layout = [&](const char* text) {
        return *vps::MakeLayout(vps::Mesh::Of(*vps::AxisSizes::Parse(text)),
                                model);
      };
      CheckLayouts(layout(a), layout(b),
                   RandomOverlap(layout(a).world_size(), random));
      if (HasFailure()) FAIL() << a << " and " << b;
    }
  }
}

// What a process has: by process, tensor, copy and element.
using Key = std::tuple<uint64_t, int, int, std::vector<int64_t>>;
using Values = std::map<Key, int64_t>;

template <typename Visit>
void ForEachElement(const vps::Box& box, Visit visit) {
  std::vector<int64_t> index(box.origin().begin(), box.origin().end());
  for (int64_t i = box.num_elements(); i > 0; --i) {
    visit(index);
    for (int dim = box.dims() - 1; dim >= 0; --dim) {
      if (++index[dim] < box.interval(dim).end) break;
      index[dim] = box.origin(dim);
    }
  }
}

void Copy(const PlanInput& input, const Route& route, const Values& from,
          Values& to) {
  ForEachElement(route.region, [&](const std::vector<int64_t>& index) {
    const uint64_t source = input.source().process(route.source_rank).id;
    const uint64_t target = input.target().process(route.target_rank).id;
    to[{target, route.tensor, route.target_copy, index}] =
        from.at({source, route.tensor, route.source_copy, index});
  });
}

Values Moved(const PlanInput& input, const Values& from) {
  Values to;
  for (const auto& [id, plan] : PlansOf(input)) {
    for (const LocalRoute& local : plan.local) {
      Copy(input, local.route, from, to);
    }
    for (const PeerExchange& peer : plan.peers) {
      for (const Route& route : peer.receive) Copy(input, route, from, to);
    }
    for (const ZeroRegion& zero : plan.zeros) {
      ForEachElement(zero.region, [&](const std::vector<int64_t>& index) {
        to[{id, zero.tensor, zero.copy, index}] = 0;
      });
    }
  }
  return to;
}

// Every element of a world has a value of its own, the same in all copies.
Values ValuesOf(const World& world) {
  Values values;
  for (int rank = 0; rank < world.size(); ++rank) {
    world.layout().ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      ForEachElement(region.global, [&](const std::vector<int64_t>& index) {
        int64_t value = region.tensor + 1;
        for (int64_t i : index) value = value * 1000 + i;
        values[{world.process(rank).id, region.tensor, region.copy, index}] =
            value;
      });
    });
  }
  return values;
}

TEST(Metamorphic, ThereAndBackReturnsEveryElement) {
  std::mt19937_64 random = TestRandom(82);
  for (int i = 0; i < 300; ++i) {
    const PairCase pair = RandomPair(random);
    PairCase reverse = pair;
    std::swap(reverse.source, reverse.target);
    const PlanInput there = *MakeInput(pair), back = *MakeInput(reverse);
    const Values before = ValuesOf(there.source());
    const Values after = Moved(back, Moved(there, before));
    ASSERT_EQ(after.size(), before.size()) << pair;
    for (const auto& [key, value] : before) {
      const auto& [id, tensor, copy, index] = key;
      // Padding that the other world has not was lost on the way.
      const bool kept =
          index.empty() || index[0] < there.CommonBox(tensor).extent(0);
      ASSERT_EQ(after.at(key), kept ? value : 0) << pair;
    }
  }
}

// Other names of the same processes and members change no route.
TEST(Metamorphic, RenamingProcessesChangesNamesOnly) {
  std::mt19937_64 random = TestRandom(83);
  for (int i = 0; i < 300; ++i) {
    const PlanInput input = *MakeInput(RandomPair(random));
    const auto renamed = [](const World& world) {
      std::vector<Process> processes;
      for (const Process& process : world.processes()) {
        const auto other = [](uint32_t place) {
          return place == 0 ? 0 : ~place * 0x9e3779b1u;  // 0: not known
        };
        processes.push_back({.id = ~process.id * 0x9e3779b97f4a7c15,
                             .member = ~process.member * 0x9e3779b1u,
                             .device = other(process.device),
                             .node = other(process.node),
                             .rail = other(process.rail)});
      }
      return *World::Create(world.layout(), std::move(processes));
    };
    PlanInput other = *PlanInput::Create(
        renamed(input.source()), renamed(input.target()), input.options());
    if (input.shares() != nullptr) other = BalanceSenders(other);
    for (const auto& [id, plan] : PlansOf(input)) {
      const ProcessPlan twin = *PlanForProcess(other, ~id * 0x9e3779b97f4a7c15);
      EXPECT_EQ(twin.local, plan.local);
      ASSERT_EQ(twin.peers.size(), plan.peers.size());
      for (size_t p = 0; p < plan.peers.size(); ++p) {
        EXPECT_EQ(twin.peers[p].peer_source_rank,
                  plan.peers[p].peer_source_rank);
        EXPECT_EQ(twin.peers[p].send, plan.peers[p].send);
        EXPECT_EQ(twin.peers[p].receive, plan.peers[p].receive);
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::transition
