// The Layout of random tiny jobs against a plain simulation of what Megatron's
// ranks do: cut the tensor by the stride rule, copy it into the buffer, take a
// shard of the bucket. Elements are numbered and followed one by one.
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
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

// The elements of one memory of a rank, by the layout: -1 where it has none.
Elements Memory(const Layout& layout, int rank, int tensor, int copy) {
  const auto shape = layout.LocalShapeOf(rank, tensor, copy);
  if (!shape.has_value()) return {};
  int64_t size = 1;
  for (const int64_t extent : *shape) size *= extent;
  Elements memory(size, -1);
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
      ASSERT_GE(at, 0);
      ASSERT_LT(at, size);
      EXPECT_EQ(memory[at], -1);
      memory[at] = global;
    }
  });
  return memory;
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

class Simulation {
 public:
  Simulation(const RandomJob& job, const MegatronLayout& megatron)
      : ranks_(job.config.ranks()), config_(job.config), megatron_(megatron) {
    for (const ModelTensor& tensor : TensorsOf(job.model)) {
      tensors_[tensor.name] = tensor;
    }
    dense_groups_ =
        RankGroups(ranks_.dense(), {std::string("dp"), std::string("cp")});
    expert_groups_ = RankGroups(ranks_.expert(), {std::string("edp")});
  }

  void Check(int rank) {
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
          ASSERT_EQ(slot.end - slot.begin, expected.size()) << live;
          if (spec.state() == "param" && config_->distributed_optimizer) {
            EXPECT_EQ(layout.BufferOffset(rank, tensor, copy), slot.begin);
          }
          if (spec.state() == "grad" && !config_->distributed_optimizer) {
            EXPECT_EQ(layout.BufferOffset(rank, tensor, copy), slot.begin);
          }
          if (spec.state() != "param" && config_->distributed_optimizer) {
            expected = ShardOf(rank, *buffer, slot, expected);
          }
        }
        EXPECT_EQ(Memory(layout, rank, tensor, copy), expected)
            << "rank " << rank << " " << spec << " copy " << copy;
      }
    }
    // All that is in buffers is a tensor of the layout, once.
    EXPECT_EQ(seen.size(), slots.size());
    for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
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
    if (cut.dim != 0 || model.pad_from.has_value()) {
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

TEST(MegatronLayoutProperty, EachRankHoldsWhatMegatronsRanksHold) {
  auto random = TestRandom(1);
  for (int i = 0; i < 60; ++i) {
    const RandomJob job = MakeRandomJob(random);
    const auto megatron =
        MakeMegatronLayout(job.model, job.config, RandomStates(random));
    ASSERT_TRUE(megatron.ok()) << megatron.status();
    Simulation simulation(job, *megatron);
    const int world = job.config.ranks().world_size();
    for (int n = 0; n < 4; ++n) simulation.Check(random() % world);
    if (HasFailure()) FAIL() << job.model.DebugString();
  }
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

TEST(MegatronLayoutProperty, EachElementHasExactlyItsOwners) {
  auto random = TestRandom(2);
  for (int i = 0; i < 12; ++i) {
    const RandomJob job = MakeRandomJob(random);
    const MegatronLayout megatron =
        *MakeMegatronLayout(job.model, job.config, RandomStates(random));
    const Layout& layout = megatron.layout();
    std::map<std::string, ModelTensor> tensors;
    for (const ModelTensor& tensor : TensorsOf(job.model)) {
      tensors[tensor.name] = tensor;
    }
    for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
      const TensorSpec& spec = layout.tensor(tensor);
      const int expected =
          HoldersOf(job.config, tensors.at(spec.name()), spec.state());
      for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
        std::vector<int> holders(spec.whole().num_elements());
        for (int rank = 0; rank < layout.world_size(); ++rank) {
          for (const int64_t element : Memory(layout, rank, tensor, copy)) {
            if (element >= 0) ++holders[element];
          }
        }
        EXPECT_THAT(holders, ::testing::Each(expected))
            << spec << " copy " << copy << " of " << job.model.DebugString();
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::vps::megatron
