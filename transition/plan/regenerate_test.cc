#include "transition/plan/regenerate.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/byte_matrix.h"
#include "transition/plan/cover.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/world_for_test.h"
#include "vps/layout/manifest.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/layout/megatron/random_job.h"
#include "vps/model/presets.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::transition {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using vps::ModelConfig;
using vps::StateList;
using vps::megatron::MakeMegatronLayout;
using vps::megatron::MegatronConfig;
using vps::megatron::MegatronOptions;

constexpr RegenerateOptions Exact() {
  return {.cast = WeightCast::kNearestEven};
}

// Each rank's process has the id `id_of` it, by default rank + 1.
World Job(
    const ModelConfig& model, MegatronOptions options,
    const std::string& states = "bf16-mixed",
    const std::function<int(int)>& id_of = [](int rank) { return rank + 1; }) {
  vps::Layout layout =
      MakeMegatronLayout(model, *MegatronConfig::Create(std::move(options)),
                         *StateList::Preset(states))
          ->layout();
  std::vector<Process> processes;
  for (int rank = 0; rank < layout.world_size(); ++rank) {
    const int id = id_of(rank);
    processes.push_back(
        {static_cast<uint64_t>(id), static_cast<uint32_t>(id / 8)});
  }
  return *World::Create(std::move(layout), std::move(processes));
}

int Joiner(int rank) { return 1000 + rank; }

ModelConfig Tiny() {
  return *ModelConfig::Create(
      {.hidden = 16, .layers = 4, .heads = 8, .ffn = 32, .vocabulary = 64});
}

// What all processes receive, by the tensor's id.
std::map<std::string, int64_t> MovedByTensor(const PlanInput& input) {
  std::map<std::string, int64_t> bytes;
  for (const Process& process : input.target().processes()) {
    const ProcessPlan plan = *PlanForProcess(input, process.id);
    for (const PeerExchange& peer : plan.peers) {
      for (const Route& route : peer.receive) {
        bytes[input.tensor(route.tensor).Id()] += NumBytes(route, input);
      }
    }
  }
  return bytes;
}

bool Regenerates(const Regeneration& chosen, const PlanInput& input,
                 const std::string& name) {
  return std::any_of(chosen.weights.begin(), chosen.weights.end(),
                     [&](const Regenerated& weight) {
                       return input.tensor(weight.weight).name() == name;
                     });
}

// Weights stay where they are: processes keep their stage and what they are in
// it, the last ones of each stage leave.
TEST(Regenerate, ChoosesNothingWhenOnlyDpChanges) {
  const struct {
    const char* model;
    MegatronOptions before, after;
  } cases[] = {
      {"llama2-7b",
       {.ranks = {.world = 16, .tp = 4}},
       {.ranks = {.world = 8, .tp = 4}}},
      {"llama2-70b",
       {.ranks = {.world = 128, .tp = 8, .pp = 4}},
       {.ranks = {.world = 96, .tp = 8, .pp = 4}}},
      {"qwen3-30b-a3b",
       {.ranks = {.world = 64, .tp = 2, .pp = 4, .ep = 4, .etp = 1}},
       {.ranks = {.world = 48, .tp = 2, .pp = 4, .ep = 4, .etp = 1}}},
  };
  for (const auto& [name, before, after] : cases) {
    const ModelConfig model = *vps::Preset(name);
    const int stage = before.ranks.world / before.ranks.pp;
    const int new_stage = after.ranks.world / after.ranks.pp;
    const PlanInput input = *PlanInput::Create(
        Job(model, before), Job(model, after, "bf16-mixed", [&](int rank) {
          return rank / new_stage * stage + rank % new_stage + 1;
        }));
    const Regeneration chosen = ChooseRegenerated(input, Exact());
    EXPECT_THAT(chosen.weights, IsEmpty()) << name;
    ASSERT_THAT(chosen.choices, Not(IsEmpty()));
    for (const WeightChoice& choice : chosen.choices) {
      EXPECT_EQ(choice.moved_bytes, 0) << name;
      EXPECT_GT(choice.gathered_bytes, 0) << name;
    }
  }
}

// Joiners need all of their weights, and a gather is on all ranks.
TEST(Regenerate, ChoosesNothingWhenReplicasJoin) {
  const ModelConfig model = *vps::Preset("llama2-7b");
  const PlanInput input =
      *PlanInput::Create(Job(model, {.ranks = {.world = 16, .tp = 4}}),
                         Job(model, {.ranks = {.world = 20, .tp = 4}}));
  const Regeneration chosen = ChooseRegenerated(input, Exact());
  EXPECT_THAT(chosen.weights, IsEmpty());
  EXPECT_GT(chosen.choices[0].moved_bytes, 0);
}

// tp 2 -> 4 on 8 ranks: target rank r has quarter r % 4 and had half r % 2, so
// ranks 0, 3, 4, 7 keep all of it and 1, 2, 5, 6 lack all: 4 x n/4 elements
// of 2 bytes are moved. The gather is over dp = 2: n/4 x (2 - 1) in 4 groups.
// 4 -> 2, dp 4: ranks lack a quarter (0, 3, 4, 7: they had one of two) or a
// half (1, 2, 5, 6): 4 x n/4 + 4 x n/2 moved; n/2 x (4 - 1) in 2 groups
// gathered.
TEST(Regenerate, WeighsAChangeOfTp) {
  const std::string fc2 = "decoder.layers.1.mlp.linear_fc2.weight";
  const std::string norm = "decoder.final_layernorm.weight";
  const int64_t n = 16 * 32;
  const auto cost_of = [](const PlanInput& input, const std::string& name) {
    const int weight = *input.target().layout().Find(name, "param");
    const int master = *input.target().layout().Find(name, "main");
    int64_t gathered = 0;
    for (int rank = 0; rank < input.target().size(); ++rank) {
      gathered += GatheredBytes(input, rank, {weight, master});
    }
    return std::pair(MovedByTensor(input)[name + "/param"], gathered);
  };
  const World tp2 = Job(Tiny(), {.ranks = {.world = 8, .tp = 2}});
  const World tp4 = Job(Tiny(), {.ranks = {.world = 8, .tp = 4}});
  const PlanInput up = *PlanInput::Create(tp2, tp4);
  EXPECT_EQ(cost_of(up, fc2), std::pair(n * 2, n * 2));
  const PlanInput down = *PlanInput::Create(tp4, tp2);
  EXPECT_EQ(cost_of(down, fc2), std::pair(3 * n * 2, 3 * n * 2));
  // Equal: moved. The norm is everywhere already.
  for (const PlanInput& input : {up, down}) {
    const Regeneration chosen = ChooseRegenerated(input, Exact());
    EXPECT_FALSE(Regenerates(chosen, input, fc2));
    EXPECT_FALSE(Regenerates(chosen, input, norm));
    EXPECT_EQ(cost_of(input, norm).first, 0);
  }
  // 4 -> 1, dp 4 on the first half of the ranks: all lack three quarters: 3 n
  // elements; gathered n x 3. On ranks that join, all is lacking: 4 n.
  const World tp1 = Job(Tiny(), {.ranks = {.world = 4}});
  const PlanInput one = *PlanInput::Create(tp4, tp1);
  EXPECT_EQ(cost_of(one, fc2), std::pair(3 * n * 2, 3 * n * 2));
  const PlanInput away = *PlanInput::Create(
      tp4, Job(Tiny(), {.ranks = {.world = 4}}, "bf16-mixed", Joiner));
  EXPECT_EQ(cost_of(away, fc2), std::pair(4 * n * 2, 3 * n * 2));
  const Regeneration chosen = ChooseRegenerated(away, Exact());
  EXPECT_TRUE(Regenerates(chosen, away, fc2));
  EXPECT_TRUE(Regenerates(chosen, away, norm));
  EXPECT_THAT(chosen.DebugString(away), HasSubstr("gathered\n"));
}

// Whole masters are everywhere: casting them gathers nothing.
TEST(Regenerate, GathersNothingWithoutTheDistributedOptimizer) {
  const World before = Job(
      Tiny(), {.ranks = {.world = 4, .tp = 4}, .distributed_optimizer = false});
  const World after = Job(
      Tiny(), {.ranks = {.world = 4, .tp = 2}, .distributed_optimizer = false});
  const PlanInput input = *PlanInput::Create(before, after);
  const Regeneration chosen = ChooseRegenerated(input, Exact());
  EXPECT_GT(chosen.moved_bytes, 0);
  EXPECT_EQ(chosen.gathered_bytes, 0);
}

// Rows that only the target's vocabulary has are zeros, not moved.
TEST(Regenerate, DoesNotCountPaddingAsMoved) {
  const PlanInput input = *PlanInput::Create(
      Job(Tiny(), {.ranks = {.world = 4}}),
      Job(Tiny(), {.ranks = {.world = 4, .tp = 4}}, "bf16-mixed", Joiner));
  ASSERT_TRUE(input.PaddingDiffers(*input.target().layout().Find(
      "embedding.word_embeddings.weight", "param")));
  int64_t moved = 0;
  for (const WeightChoice& it : ChooseRegenerated(input, Exact()).choices) {
    moved += it.moved_bytes;
  }
  int64_t expected = 0;
  for (const auto& [id, bytes] : MovedByTensor(input)) {
    if (absl::EndsWith(id, "/param")) expected += bytes;
  }
  EXPECT_EQ(moved, expected);
}

// Two weights that lie alike; the master of one is whole on each rank, that of
// the other is shared.
TEST(Regenerate, WeighsEachKindOfMaster) {
  const auto tensor = [](const char* name, const char* state, vps::Dtype dtype,
                         vps::Sharding sharding) {
    return vps::ManifestTensor{
        *vps::TensorSpec::Create(name, state, dtype, {8, 4}),
        std::move(sharding)};
  };
  const vps::Manifest model = *vps::Manifest::Create(
      {tensor("a", "param", vps::Dtype::kBfloat16, {}),
       tensor("a", "main", vps::Dtype::kFloat32, {{"dp", 0}}),
       tensor("b", "param", vps::Dtype::kBfloat16, {}),
       tensor("b", "main", vps::Dtype::kFloat32, {})});
  const Regeneration chosen = ChooseRegenerated(
      *PlanInput::Create(WorldForTest("dp2", model, {10, 20}),
                         WorldForTest("dp2", model, {30, 40})),
      Exact());
  EXPECT_EQ(chosen.weights.size(), 2);
  EXPECT_EQ(chosen.moved_bytes, 2 * 2 * 64);
  EXPECT_EQ(chosen.gathered_bytes, 2 * 32);  // half of a, on both ranks
}

TEST(Regenerate, OfAShippedModelChoosesWhereAJobMovesAway) {
  const ModelConfig model = *vps::Preset("llama2-70b");
  // dp is 1: each rank casts all that it needs.
  const PlanInput input =
      *PlanInput::Create(Job(model, {.ranks = {.world = 32, .tp = 8, .pp = 4}}),
                         Job(model, {.ranks = {.world = 64, .tp = 8, .pp = 8}},
                             "bf16-mixed", Joiner));
  const Regeneration chosen = ChooseRegenerated(input, Exact());
  EXPECT_EQ(chosen.gathered_bytes, 0);
  EXPECT_EQ(chosen.weights.size(), input.num_tensors() / 4);
}

TEST(Regenerate, NeverChoosesWhatACastDoesNotGive) {
  const auto chosen = [](const std::string& states, WeightCast cast) {
    MegatronOptions options = {.ranks = {.world = 4, .tp = 4}};
    options.precision_aware_optimizer = states == "precision-aware";
    const World before = Job(Tiny(), options, states);
    options.ranks.tp = 1;
    const PlanInput input =
        *PlanInput::Create(before, Job(Tiny(), options, states, Joiner));
    std::vector<std::string> ids;
    for (const Regenerated& weight :
         ChooseRegenerated(input, {.cast = cast}).weights) {
      ids.push_back(input.tensor(weight.weight).DebugString());
    }
    return ids;
  };
  EXPECT_THAT(chosen("bf16-mixed", WeightCast::kUnknown), IsEmpty());
  EXPECT_THAT(chosen("bf16-mixed", WeightCast::kStochastic), IsEmpty());
  EXPECT_THAT(chosen("precision-aware", WeightCast::kNearestEven), IsEmpty());
  EXPECT_THAT(chosen("fp32", WeightCast::kNearestEven), IsEmpty());
  // Of fp8 only what stays wide.
  const auto of_fp8 = chosen("fp8", WeightCast::kNearestEven);
  EXPECT_THAT(of_fp8, Not(IsEmpty()));
  EXPECT_THAT(of_fp8, Each(HasSubstr("bfloat16")));
  EXPECT_THAT(of_fp8, Each(Not(HasSubstr("linear_fc1.weight"))));
  EXPECT_GT(chosen("bf16-mixed", WeightCast::kNearestEven).size(),
            of_fp8.size());
  EXPECT_EQ(chosen("fp16-mixed", WeightCast::kNearestEven).size(),
            chosen("bf16-mixed", WeightCast::kNearestEven).size());
}

TEST(Regenerate, IsPartOfTheAgreement) {
  const World world = Job(Tiny(), {.ranks = {.world = 2, .tp = 2}});
  const PlanInput input = *PlanInput::Create(world, world);
  const Regenerated first = {0, 1}, second = {4, 5};
  EXPECT_EQ(input.WithRegenerated({})->AgreementDigest(),
            input.AgreementDigest());
  EXPECT_NE(input.WithRegenerated({first})->AgreementDigest(),
            input.AgreementDigest());
  EXPECT_NE(input.WithRegenerated({first})->AgreementDigest(),
            input.WithRegenerated({second})->AgreementDigest());
  const auto refused = [&](std::vector<Regenerated> weights) {
    return std::string(input.WithRegenerated(weights).status().message());
  };
  EXPECT_THAT(refused({first, first}), HasSubstr("is there twice"));
  EXPECT_THAT(refused({{0, 1}, {1, 2}}), HasSubstr("is a master"));
  EXPECT_THAT(refused({{0, 1 << 20}}), HasSubstr("tensor 1048576; there are"));
  EXPECT_THAT(refused({{-1, 0}}), HasSubstr("tensor -1"));
}

// A job in two random layouts.
PlanInput RandomInput(std::mt19937_64& random) {
  const StateList states = *StateList::Preset("bf16-mixed");
  while (true) {
    const auto before = vps::megatron::MakeRandomJob(random);
    const auto after = vps::megatron::MakeRandomJob(random);
    const auto source = MakeMegatronLayout(before.model, before.config, states);
    const auto target = MakeMegatronLayout(before.model, after.config, states);
    if (!source.ok() || !target.ok()) continue;
    const auto world = [](const vps::Layout& layout, int first) {
      std::vector<Process> processes;
      for (int rank = 0; rank < layout.world_size(); ++rank) {
        processes.push_back({static_cast<uint64_t>(first + rank), 1});
      }
      return *World::Create(layout, std::move(processes));
    };
    const auto input =
        PlanInput::Create(world(source->layout(), 1),
                          world(target->layout(), random() % 3 == 0 ? 20 : 1));
    if (input.ok()) return *input;
  }
}

int64_t SumOf(const PlanInput& input, int64_t ByteTotals::*field) {
  int64_t sum = 0;
  for (const Process& process : input.target().processes()) {
    sum += PlanForProcess(input, process.id)->bytes.*field;
  }
  return sum;
}

TEST(Regenerate, MovesLessAndTheRestAsBefore) {
  std::mt19937_64 random = TestRandom();
  int chosen_in = 0;
  for (int i = 0; i < 40; ++i) {
    const PlanInput input = RandomInput(random);
    const Regeneration chosen = ChooseRegenerated(input, Exact());
    const PlanInput less = *input.WithRegenerated(chosen.weights);
    std::map<std::string, int64_t> moved = MovedByTensor(input);
    int64_t saved = 0;
    for (const Regenerated& weight : chosen.weights) {
      const auto it = moved.find(input.tensor(weight.weight).Id());
      ASSERT_NE(it, moved.end());
      saved += it->second;
      moved.erase(it);
    }
    ASSERT_EQ(saved, chosen.moved_bytes);
    ASSERT_EQ(MovedByTensor(less), moved);
    ASSERT_EQ(SumOf(less, &ByteTotals::gathered_bytes), chosen.gathered_bytes);
    ASSERT_LE(chosen.gathered_bytes, chosen.moved_bytes);
    const int64_t received = SumOf(less, &ByteTotals::received_bytes);
    ASSERT_EQ(received, SumOf(less, &ByteTotals::minimal_bytes));
    ASSERT_EQ(received, ComputeByteMatrix(less).moved_bytes);
    for (const Process& process : less.target().processes()) {
      const ProcessPlan plan = *PlanForProcess(less, process.id);
      ASSERT_TRUE(CheckCover(less, plan).ok()) << CheckCover(less, plan);
      // The plan that moves them is not one of the input that does not.
      if (!plan.regenerated.empty()) {
        ASSERT_FALSE(CheckCover(less, *PlanForProcess(input, process.id)).ok());
      }
    }
    if (!chosen.weights.empty()) ++chosen_in;
  }
  EXPECT_GT(chosen_in, 5);
}

}  // namespace
}  // namespace dynatrain::transition
