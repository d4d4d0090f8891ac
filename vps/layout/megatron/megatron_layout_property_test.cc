// The Layout of random tiny jobs against a plain simulation of what Megatron's
// ranks do: cut the tensor by the stride rule, copy it into the buffer, take a
// shard of the bucket. Elements are numbered and followed one by one. A job
// that is wrong is made small before it is shown.
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "base/shrink.h"
#include "gtest/gtest.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/layout/megatron/random_job.h"
#include "vps/layout/megatron/tensor_parallel.h"
#include "vps/model/model_tensors.h"

namespace dynatrain::vps::megatron {
namespace {

using Elements = std::vector<int64_t>;  // numbers in the whole, row-major

// _initialize_affine_weight_cpu: along `dim`, each block is cut in equal
// pieces and this rank has piece `number` of each.
Elements Local(absl::Span<const int64_t> shape, const TensorCut& cut,
               absl::Span<const int64_t> blocks, int pieces, int number) {
  std::vector<bool> mine(cut.axis == TensorAxis::kNone ? 0 : shape[cut.dim]);
  int64_t begin = 0;
  for (const int64_t block : blocks) {
    const int64_t piece = block / pieces;
    for (int64_t i = 0; i < piece && !mine.empty(); ++i) {
      mine[begin + number * piece + i] = true;
    }
    begin += block;
  }
  int64_t total = 1, inner = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    total *= shape[d];
    if (d > cut.dim) inner *= shape[d];
  }
  Elements local;
  for (int64_t i = 0; i < total; ++i) {
    if (mine.empty() || mine[i / inner % shape[cut.dim]]) local.push_back(i);
  }
  return local;
}

constexpr int64_t kNone = -1;
constexpr int64_t kTwice = -2;

// The elements of one memory of a rank, by the layout: kNone where it has none,
// kTwice where it has two; empty if one lies outside.
Elements Memory(const Layout& layout, int rank, int tensor, int copy) {
  const auto shape = layout.LocalShapeOf(rank, tensor, copy);
  if (!shape.has_value()) return {};
  int64_t size = 1;
  for (const int64_t extent : *shape) size *= extent;
  Elements memory(size, kNone);
  bool is_outside = false;
  const auto whole = layout.tensor(tensor).shape();
  layout.ForEachRegionOf(rank, tensor, [&](const OwnedRegion& region) {
    if (region.copy != copy) return;
    const Box& box = region.global;
    for (int64_t i = 0; i < box.num_elements(); ++i) {
      int64_t rest = i, at = region.offset, global = 0, scale = 1;
      for (int d = static_cast<int>(whole.size()) - 1; d >= 0; --d) {
        const int64_t step = rest % box.shape()[d];
        rest /= box.shape()[d];
        at += step * region.strides[d];
        global += (box.origin()[d] + step) * scale;
        scale *= whole[d];
      }
      if (at < 0 || at >= size) {
        is_outside = true;
        continue;
      }
      memory[at] = memory[at] == kNone ? global : kTwice;
    }
  });
  return is_outside ? Elements() : memory;
}

int CoordinateOf(const Mesh& mesh, int rank, const char* axis) {
  return mesh.Coordinate(rank, *mesh.AxisIndex(axis));
}

// The number of `rank` in its group, as torch.distributed would tell it.
int NumberIn(const std::vector<std::vector<int>>& groups, int rank,
             int modulo) {
  for (const std::vector<int>& group : groups) {
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i] == rank) return static_cast<int>(i) % modulo;
    }
  }
  return -1;
}

struct Case {
  RandomJob job;
  StateList states;
};

std::vector<Case> SmallerCases(const Case& it) {
  std::vector<Case> smaller;
  for (RandomJob& job : SmallerJobs(it.job)) {
    smaller.push_back({std::move(job), it.states});
  }
  return smaller;
}

// A mistake that the simulation makes, to see that it is found and made small.
enum class Planted { kNone, kIgnoresBlocks };

class Simulation {
 public:
  Simulation(const RandomJob& job, const MegatronLayout& megatron,
             Planted planted)
      : ranks_(job.config.ranks()),
        config_(job.config),
        megatron_(megatron),
        planted_(planted) {
    for (const ModelTensor& tensor : TensorsOf(job.model)) {
      tensors_[tensor.name] = tensor;
    }
    dense_groups_ =
        RankGroups(ranks_.dense(), {std::string("dp"), std::string("cp")});
    expert_groups_ = RankGroups(ranks_.expert(), {std::string("edp")});
  }

  // What is wrong with a rank, or "".
  std::string WrongOf(int rank) const {
    const Layout& layout = megatron_.layout();
    // By live name: where it is in its buffer.
    std::map<std::string, std::pair<const MegatronBuffer*, int>> slots;
    for (const MegatronBuffer& buffer : megatron_.Buffers(rank)) {
      for (size_t i = 0; i < buffer.live_names.size(); ++i) {
        slots[buffer.live_names[i]] = {&buffer, static_cast<int>(i)};
      }
    }
    std::map<std::string, int> seen;
    for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
      const TensorSpec& spec = layout.tensor(tensor);
      const ModelTensor& model = tensors_.at(spec.name());
      for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
        if (!layout.IsAt(rank, tensor, copy)) continue;
        const std::string live(megatron_.LiveName(tensor, copy));
        if (spec.state() == "param") ++seen[live];
        Elements expected = LocalOf(rank, spec, model);
        if (model.is_parameter()) {
          const auto [buffer, index] = slots.at(live);
          const FlatSlot& slot = buffer->flat.slot(index);
          const bool lies_in_slot =
              spec.state() ==
              (config_->distributed_optimizer ? "param" : "grad");
          if (slot.end - slot.begin != static_cast<int64_t>(expected.size()) ||
              (lies_in_slot &&
               layout.BufferOffset(rank, tensor, copy) != slot.begin)) {
            return absl::StrCat("rank ", rank, ": the slot of ", live);
          }
          if (spec.state() != "param" && config_->distributed_optimizer) {
            expected = ShardOf(rank, *buffer, slot, expected);
          }
        }
        if (Memory(layout, rank, tensor, copy) != expected) {
          return absl::StrCat("rank ", rank, ": ", spec.DebugString(), " copy ",
                              copy);
        }
      }
    }
    // All that is in buffers is a tensor of the layout, once.
    if (seen.size() != slots.size()) {
      return absl::StrCat("rank ", rank, ": ", slots.size(), " slots for ",
                          seen.size(), " tensors");
    }
    for (const auto& [name, count] : seen) {
      if (count != 1) return absl::StrCat(name, " is there ", count, " times");
    }
    return "";
  }

 private:
  Elements LocalOf(int rank, const TensorSpec& spec,
                   const ModelTensor& model) const {
    const TensorCut cut = CutOf(model, config_->spec);
    const bool expert = model.expert.has_value();
    const int pieces = expert ? ranks_.etp() : ranks_.tp();
    const int number = expert ? CoordinateOf(ranks_.expert(), rank, "etp")
                              : CoordinateOf(ranks_.dense(), rank, "tp");
    std::vector<int64_t> blocks(model.blocks.begin(), model.blocks.end());
    if (cut.dim != 0 || model.pad_from.has_value() ||
        planted_ == Planted::kIgnoresBlocks) {
      blocks = {spec.shape()[cut.dim]};
    }
    return Local(spec.shape(), cut, blocks, pieces, number);
  }

  Elements ShardOf(int rank, const MegatronBuffer& buffer, const FlatSlot& slot,
                   const Elements& local) const {
    const bool apart = buffer.name.find("/expert/") != std::string::npos;
    const int shards = apart ? ranks_.expert_shards() : ranks_.dense_shards();
    const int number =
        NumberIn(apart ? expert_groups_ : dense_groups_, rank, shards);
    const FlatBucket& bucket = buffer.flat.buckets()[slot.bucket];
    const int64_t shard = (bucket.end - bucket.begin) / shards;
    Elements mine;
    for (size_t i = 0; i < local.size(); ++i) {
      const int64_t at = slot.begin + static_cast<int64_t>(i) - bucket.begin;
      if (at / shard == number) mine.push_back(local[i]);
    }
    return mine;
  }

  const Ranks& ranks_;
  const MegatronConfig& config_;
  const MegatronLayout& megatron_;
  const Planted planted_;
  std::map<std::string, ModelTensor> tensors_;
  std::vector<std::vector<int>> dense_groups_;
  std::vector<std::vector<int>> expert_groups_;
};

StateList RandomStates(std::mt19937_64& random) {
  if (random() % 3 == 0) {
    return *StateList::Parse(
        {"param:bfloat16", "main:float32", "grad:float32"});
  }
  return *StateList::Preset(random() % 2 == 0 ? "bf16-mixed" : "fp32");
}

// Of four ranks, the first and the last of them.
std::string WrongMemory(const Case& it, Planted planted = Planted::kNone) {
  const auto megatron =
      MakeMegatronLayout(it.job.model, it.job.config, it.states);
  if (!megatron.ok()) return std::string(megatron.status().message());
  const Simulation simulation(it.job, *megatron, planted);
  const int last = it.job.config.ranks().world_size() - 1;
  for (int n = 0; n < 4; ++n) {
    std::string wrong = simulation.WrongOf(last * n / 3);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

template <typename WrongOf>
Case Shrunk(const Case& it, const WrongOf& wrong_of) {
  return Shrink(it, SmallerCases, [&](const Case& smaller) {
    return !wrong_of(smaller).empty();
  });
}

// Looks at so many random cases.
template <typename WrongOf>
void ExpectRight(int cases, uint64_t stream, const WrongOf& wrong_of) {
  auto random = TestRandom(stream);
  for (int i = 0; i < cases; ++i) {
    const Case it = {MakeRandomJob(random), RandomStates(random)};
    if (wrong_of(it).empty()) continue;
    const Case small = Shrunk(it, wrong_of);
    FAIL() << wrong_of(small) << "\n" << small.job << "case " << i;
  }
}

TEST(MegatronLayoutProperty, EachRankHoldsWhatMegatronsRanksHold) {
  ExpectRight(60, 1, [](const Case& it) { return WrongMemory(it); });
}

// The first random case of a planted mistake, made small.
Case SmallCaseOf(Planted planted, uint64_t stream) {
  const auto wrong_of = [&](const Case& it) {
    return WrongMemory(it, planted);
  };
  auto random = TestRandom(stream);
  while (true) {
    const Case it = {MakeRandomJob(random), RandomStates(random)};
    if (!wrong_of(it).empty()) return Shrunk(it, wrong_of);
  }
}

// Ranks that share a tensor of blocks are all that it takes: two, or three
// where the numbers of the case go by three.
TEST(MegatronLayoutProperty, AMistakeIsMadeSmall) {
  const RandomJob job = SmallCaseOf(Planted::kIgnoresBlocks, 10).job;
  EXPECT_LE(job.config.ranks().world_size(), 3) << job;
  EXPECT_EQ(job.config.ranks().pp(), 1) << job;
  EXPECT_EQ(job.model->layers, 1) << job;
  EXPECT_EQ(job.model->mtp_layers, 0) << job;
  EXPECT_FALSE(job.model->tied || job.model->bias || job.model->qk_norm) << job;
  EXPECT_FALSE(job.config->distributed_optimizer) << job;
}

// How many ranks hold an element of a copy: those that are where it is, over
// the pieces that they cut it into.
int HoldersOf(const MegatronConfig& config, const ModelTensor& model,
              const std::string& state) {
  const Ranks& ranks = config.ranks();
  const bool apart =
      model.expert.has_value() &&
      (ranks.ep() > 1 || (config->version.experts_apart_if_etp_differs &&
                          ranks.etp() != ranks.tp()));
  int holders = ranks.world_size() / ranks.pp();
  if (apart) holders /= ranks.ep();
  if (CutOf(model, config->spec).axis != TensorAxis::kNone) {
    holders /= model.expert.has_value() ? ranks.etp() : ranks.tp();
  }
  const bool is_sharded =
      config->distributed_optimizer && model.is_parameter() && state != "param";
  if (is_sharded) {
    holders /= apart ? ranks.expert_shards() : ranks.dense_shards();
  }
  return holders;
}

// Each element is held by as many ranks as HoldersOf says.
std::string WrongOwners(const Case& it) {
  const MegatronLayout megatron =
      *MakeMegatronLayout(it.job.model, it.job.config, it.states);
  const Layout& layout = megatron.layout();
  std::map<std::string, ModelTensor> tensors;
  for (const ModelTensor& tensor : TensorsOf(it.job.model)) {
    tensors[tensor.name] = tensor;
  }
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    const TensorSpec& spec = layout.tensor(tensor);
    const int expected =
        HoldersOf(it.job.config, tensors.at(spec.name()), spec.state());
    for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
      std::vector<int> holders(spec.whole().num_elements());
      for (int rank = 0; rank < layout.world_size(); ++rank) {
        for (const int64_t element : Memory(layout, rank, tensor, copy)) {
          if (element >= 0) ++holders[element];
        }
      }
      for (const int count : holders) {
        if (count == expected) continue;
        return absl::StrCat(spec.DebugString(), " copy ", copy,
                            ": an element is on ", count, " ranks, not on ",
                            expected);
      }
    }
  }
  return "";
}

TEST(MegatronLayoutProperty, EachElementHasExactlyItsOwners) {
  ExpectRight(12, 2, WrongOwners);
}

}  // namespace
}  // namespace dynatrain::vps::megatron
