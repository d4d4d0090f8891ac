// What each framework's mapping says, listed, written as JSON and read again as
// a layout, is the same layout, and a plan moves the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/layout_file/layout_file.h"
#include "api/listing/json_codec.h"
#include "base/random_seed.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/world.h"
#include "vps/layout/listing/list_rank.h"
#include "vps/layout/listing/same_layout_testutil.h"

namespace dynatrain::api {
namespace {

using transition::PlanInput;
using transition::ProcessPlan;
using transition::Route;
using transition::World;

LoadedLayout Load(absl::string_view text) {
  auto loaded =
      LoadLayout(text, [](absl::string_view) -> absl::StatusOr<std::string> {
        return absl::NotFoundError("no other file");
      });
  EXPECT_TRUE(loaded.ok()) << loaded.status() << "\n" << text;
  return *std::move(loaded);
}

std::string ListedText(const LoadedLayout& loaded) {
  std::string text;
  const auto append = [&](absl::string_view part) {
    absl::StrAppend(&text, part);
  };
  ListingEncoder encoder(
      {loaded.framework, loaded.framework_version, loaded.layout.world_size()},
      append);
  for (int rank = 0; rank < loaded.layout.world_size(); ++rank) {
    encoder.Add(vps::ListRank(loaded.layout, loaded.live, rank));
  }
  encoder.Finish();
  return text;
}

std::string Megatron(absl::string_view parallelism, int world,
                     absl::string_view more, absl::string_view model = "") {
  return absl::StrCat(
      "model: {family: llama, layers: 4, hidden: 16, heads: 4, query_groups: 2,"
      " head_dim: 4, ffn: 32, vocabulary: 50",
      model, "}\nframework: megatron\nworld: ", world, "\nparallelism: {",
      parallelism,
      "}\nmegatron: {make_vocab_size_divisible_by: 1, bucket_size: 700", more,
      "}\nstates: [param:bfloat16, main:float32, exp_avg:float32,"
      " exp_avg_sq:float32]\n");
}

constexpr char kTied[] = ", tied: true";
constexpr char kOptimizer[] = ", distributed_optimizer: true";

std::string Torch(absl::string_view mesh, absl::string_view dp) {
  return absl::StrCat(
      "framework: torch\nstates: [param:float32, exp_avg:float32]\n"
      "torch:\n  mesh: ",
      mesh,
      "\n  tensors:\n"
      "    - {name: a, shape: [7, 4], splits: [{axis: tp, dim: 0},"
      " {axis: dp, dim: 0}]}\n"
      "    - {name: b, shape: [6, 5], splits: [{axis: tp, dim: 1}]}\n"
      "    - {name: u, shape: [3, 5]}\n"
      "    - {name: v, shape: [11]}\n"
      "  flat_parameters:\n"
      "    - {name: unit, axes: [",
      dp, "], tensors: [u, v]}\n");
}

std::string DeepSpeed(int stage, int ranks) {
  return absl::StrCat(
      "framework: deepspeed\nstates: [param:float32, main:float32]\n"
      "deepspeed: {stage: ",
      stage, ", mesh: dp", ranks,
      ", tensors: [{name: w, shape: [6, 3]}, {name: v, shape: [7]}]}\n");
}

// Pairs of jobs of the same tensors.
std::vector<std::pair<std::string, std::string>> Jobs() {
  return {
      {Megatron("tp: 2, pp: 2", 8, kOptimizer),
       Megatron("tp: 1, pp: 4", 8, kOptimizer)},
      {Megatron("tp: 2, pp: 2", 8, kOptimizer, kTied),
       Megatron("tp: 2", 6, kOptimizer, kTied)},
      {Megatron("pp: 2", 6,
                ", order: tp-cp-ep-pp-dp, distributed_optimizer: "
                "true",
                kTied),
       Megatron("tp: 2, pp: 2, vpp: 2", 4, kOptimizer, kTied)},
      {Megatron("tp: 4", 4, ", distributed_optimizer: false"),
       Megatron("pp: 2, cp: 2", 8,
                ", optimizer_instances: 2" + std::string(kOptimizer))},
      {Torch("dp3,tp2", "dp"), Torch("dp2,tp2", "dp")},
      {Torch("dp2,tp3", "tp"), Torch("dp1,tp4", "tp")},
      {DeepSpeed(1, 4), DeepSpeed(1, 3)},
      {DeepSpeed(2, 3), DeepSpeed(3, 2)},
  };
}

TEST(ListedLayoutTest, AnyMappingListedAndReadAgainIsTheSame) {
  std::mt19937_64 random = TestRandom(1);
  for (const auto& [source, target] : Jobs()) {
    for (const std::string& job : {source, target}) {
      const LoadedLayout loaded = Load(job);
      const std::string text = ListedText(loaded);
      const LoadedLayout listed = Load(text);
      EXPECT_EQ(vps::Difference(loaded.layout, listed.layout, random), "")
          << job;
      EXPECT_EQ(listed.framework, loaded.framework);
      EXPECT_EQ(listed.framework_version, loaded.framework_version);
      // Names, buffers and all: in an order that the first rank begins.
      EXPECT_EQ(ListedText(Load(ListedText(listed))), ListedText(listed));
      EXPECT_EQ(ListedText(listed).size(), text.size()) << job;
    }
  }
}

World WorldOf(const LoadedLayout& loaded) {
  std::vector<transition::Process> processes;
  for (int rank = 0; rank < loaded.layout.world_size(); ++rank) {
    processes.push_back(
        {static_cast<uint64_t>(rank + 1), static_cast<uint32_t>(rank / 2)});
  }
  return *World::Create(loaded.layout, std::move(processes));
}

// What a plan does to one process, up to which of several holders sends.
struct Moved {
  std::set<std::string> kept;
  std::set<std::string> zeros;
  std::map<std::string, int64_t> received;  // elements of each tensor
  int64_t minimal_bytes = 0;

  friend bool operator==(const Moved&, const Moved&) = default;
};

Moved MovedBy(const PlanInput& input, const ProcessPlan& plan) {
  Moved moved;
  const auto text = [&](int tensor, const vps::Box& region) {
    return absl::StrCat(input.tensor(tensor).Id(), " ", region.DebugString());
  };
  for (const transition::LocalRoute& local : plan.local) {
    moved.kept.insert(text(local.route.tensor, local.route.region));
  }
  for (const transition::ZeroRegion& zero : plan.zeros) {
    moved.zeros.insert(text(zero.tensor, zero.region));
  }
  for (const transition::PeerExchange& peer : plan.peers) {
    for (const Route& route : peer.receive) {
      moved.received[input.tensor(route.tensor).Id()] +=
          route.region.num_elements();
    }
  }
  moved.minimal_bytes = plan.bytes.minimal_bytes;
  return moved;
}

// Each route comes from a rank that holds all of it, by `layout`.
void ExpectSendersHold(const PlanInput& input, const ProcessPlan& plan,
                       const vps::Layout& layout) {
  for (const transition::PeerExchange& peer : plan.peers) {
    for (const Route& route : peer.receive) {
      const vps::TensorSpec& spec = input.tensor(route.tensor);
      int64_t held = 0;
      layout.ForEachRegionOf(
          route.source_rank, *layout.Find(spec.name(), spec.state()),
          [&](const vps::OwnedRegion& region) {
            if (const auto common = Intersect(region.global, route.region)) {
              held += common->num_elements();
            }
          });
      EXPECT_GE(held, route.region.num_elements()) << route.DebugString(input);
    }
  }
}

TEST(ListedLayoutTest, APlanBetweenListingsMovesWhatItMovesBetweenJobs) {
  for (const auto& [source_job, target_job] : Jobs()) {
    const LoadedLayout source = Load(source_job), target = Load(target_job);
    const LoadedLayout listed_source = Load(ListedText(source));
    const LoadedLayout listed_target = Load(ListedText(target));
    const PlanInput expected =
        *PlanInput::Create(WorldOf(source), WorldOf(target));
    for (const auto& [from, to] : {std::pair(&listed_source, &listed_target),
                                   std::pair(&listed_source, &target),
                                   std::pair(&source, &listed_target)}) {
      const PlanInput input = *PlanInput::Create(WorldOf(*from), WorldOf(*to));
      for (int id = 1; id <= input.num_processes(); ++id) {
        const ProcessPlan plan = *PlanForProcess(input, id);
        EXPECT_EQ(MovedBy(input, plan),
                  MovedBy(expected, *PlanForProcess(expected, id)))
            << "process " << id << "\n"
            << source_job << target_job;
        ExpectSendersHold(input, plan, source.layout);
      }
    }
  }
}

TEST(ListedLayoutTest, AListingIsToldByItsKeys) {
  const std::string listing = ListedText(Load(DeepSpeed(1, 2)));
  EXPECT_TRUE(IsListing(listing));
  EXPECT_TRUE(IsListing("\n {\"extra\": [{\"world\": 2}], \"ranks\": ["));
  EXPECT_FALSE(IsListing("{\"world\": 2, \"ranks\": []}"));
  EXPECT_FALSE(IsListing(DeepSpeed(1, 2)));
  for (const char* text : {"", "{", "[]", "{\"a\": }", "ranks"}) {
    EXPECT_FALSE(IsListing(text)) << text;
  }
}

TEST(ListedLayoutTest, RefusesNamingRankTensorFieldAndValue) {
  constexpr char kBroken[] = R"({"version": 1, "framework": "torch",
    "world_size": 1, "ranks": [{"rank": 0, "tensors": [
      {"name": "w", "state": "param", "dtype": "float32", "shape": [4],
       "local_shape": [3], "regions": [{"origin": [0], "shape": [3]}]}]}]})";
  const auto refused = LoadLayout(kBroken, [](absl::string_view) {
    return absl::StatusOr<std::string>("");
  });
  EXPECT_EQ(refused.status().message(),
            "listing: w/param: no rank lists elements [3:4]");
}

}  // namespace
}  // namespace dynatrain::api
