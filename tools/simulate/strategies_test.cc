// What each strategy moves, against oracles that enumerate elements of tiny
// Megatron jobs and know ranks only by Megatron's formula for "tp-cp-ep-dp-pp".

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/simulate/checkpoint_strategy.h"
#include "tools/simulate/dynatrain_strategy.h"
#include "tools/simulate/elastic_megatron_strategy.h"
#include "tools/simulate/hotspa_strategy.h"
#include "tools/simulate/shape.h"
#include "tools/simulate/strategy.h"
#include "tools/simulate/tenplex_strategy.h"
#include "vps/model/families.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;
using transition::Flow;
using Bytes = std::map<std::pair<int, int>, int64_t>;

// 4 nodes of 4 ranks.
ClusterModel Cluster() {
  return *ClusterModel::Create({.num_nodes = 4,
                                .ranks_per_node = 4,
                                .nics_per_node = 4,
                                .inside_bytes_per_second = 1'000'000'000,
                                .nic_bytes_per_second = 1'000'000'000});
}

JobModel Tiny(bool experts, bool tied = false) {
  vps::ModelNumbers numbers = vps::FamilyFeatures(
      experts ? vps::Family::kMixtral : vps::Family::kLlama);
  numbers.hidden = 8;
  numbers.layers = 4;
  numbers.heads = 4;
  numbers.query_groups = 4;
  numbers.ffn = 12;
  numbers.vocabulary = 128;
  numbers.tied = tied;
  if (experts) {
    numbers.experts->count = 4;
    numbers.experts->ffn = 4;
  }
  return {"tiny", *vps::ModelConfig::Create(numbers),
          *vps::StateList::Preset("bf16-mixed")};
}

struct Example {
  Shape from;
  std::vector<int> from_ranks;  // of the cluster
  Shape to;
  std::vector<int> to_ranks;
  bool experts = false;
  bool tied = false;
};

std::vector<int> Range(int begin, int end) {
  std::vector<int> ranks(end - begin);
  std::iota(ranks.begin(), ranks.end(), begin);
  return ranks;
}

// Single dimensions, several at once, growth, shrinking, other nodes.
std::vector<Example> Examples() {
  return {
      {{.tp = 2}, Range(0, 4), {.tp = 2}, Range(0, 8)},
      {{.tp = 2}, Range(0, 8), {.tp = 4}, Range(0, 8)},
      {{.tp = 4}, Range(0, 8), {.tp = 1, .pp = 2}, Range(0, 8)},
      {{.tp = 2, .pp = 2}, Range(0, 8), {.tp = 2, .pp = 2}, Range(8, 16)},
      {{.tp = 2, .pp = 4}, Range(0, 16), {.tp = 4, .pp = 1}, Range(4, 12)},
      {{.tp = 1, .pp = 2}, Range(0, 12), {.tp = 1, .pp = 2}, Range(2, 10)},
      {{.tp = 2, .pp = 2, .ep = 2, .etp = 1},
       Range(0, 8),
       {.tp = 1, .pp = 2, .ep = 4, .etp = 1},
       Range(0, 16),
       /*experts=*/true},
      {{.tp = 2, .pp = 1, .ep = 4, .etp = 1},
       Range(0, 16),
       {.tp = 2, .pp = 4, .ep = 2, .etp = 1},
       Range(0, 8),
       /*experts=*/true},
      {{.tp = 2, .pp = 2},
       Range(0, 8),
       {.tp = 1, .pp = 4},
       Range(4, 16),
       /*experts=*/false,
       /*tied=*/true},
  };
}

SwitchCase Make(const Example& it, bool sharded = true) {
  const JobModel model = Tiny(it.experts, it.tied);
  const ClusterModel cluster = Cluster();
  const auto job = [&](const Shape& shape, const std::vector<int>& ranks) {
    const int size = static_cast<int>(ranks.size());
    return *RunOn(*LayOut(model, shape, sharded, size), ranks, cluster);
  };
  RunningJob source = job(it.from, it.from_ranks);
  RunningJob target = job(it.to, it.to_ranks);
  return *SwitchCase::Create(std::move(source), std::move(target), cluster);
}

Bytes Sum(const std::vector<Flow>& flows) {
  Bytes bytes;
  for (const Flow& flow : flows) {
    bytes[{flow.sender, flow.receiver}] += flow.bytes;
  }
  return bytes;
}

const Phase& PhaseOf(const Movement& movement, const std::string& name) {
  return *std::find_if(movement.phases.begin(), movement.phases.end(),
                       [&](const Phase& it) { return it.name == name; });
}

// Element by element: which ranks hold it, in any copy, ascending.
struct Elements {
  // By tensor and row-major position in the source's tensor.
  std::map<std::pair<int, std::vector<int64_t>>, std::set<int>> holders;

  explicit Elements(const vps::Layout& layout) {
    for (int rank = 0; rank < layout.world_size(); ++rank) {
      layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
        Visit(region.global, [&](const std::vector<int64_t>& index) {
          holders[{region.tensor, index}].insert(rank);
        });
      });
    }
  }

  template <typename Visitor>
  static void Visit(const vps::Box& box, Visitor visit) {
    std::vector<int64_t> index(box.origin().begin(), box.origin().end());
    for (int64_t i = 0; i < box.num_elements(); ++i) {
      visit(index);
      for (int dim = box.dims() - 1; dim >= 0; --dim) {
        if (++index[dim] < box.origin(dim) + box.extent(dim)) break;
        index[dim] = box.origin(dim);
      }
    }
  }
};

// Calls visit(tensor, index, rank, copy) for all that target ranks need.
template <typename Visitor>
void ForEachNeededElement(const SwitchCase& change, Visitor visit) {
  change.ForEachNeededPart([&](const NeededPart& part) {
    Elements::Visit(part.box, [&](const std::vector<int64_t>& index) {
      visit(part, index);
    });
  });
}

TEST(StrategiesTest, OursMovesWhatIsLackingAndNoMore) {
  const DynaTrainStrategy ours(DynaTrainStrategy::Weights::kMoved);
  for (const Example& it : Examples()) {
    const SwitchCase change = Make(it);
    const Elements source(change.source());
    std::map<int, int64_t> lacking, received, touched;
    ForEachNeededElement(
        change, [&](const NeededPart& part, const std::vector<int64_t>& index) {
          const int receiver = change.TargetOn(part.rank);
          for (int holder : source.holders.at({part.source_tensor, index})) {
            if (change.SourceOn(holder) == receiver) return;
          }
          lacking[receiver] += part.item_bytes;
        });
    const Movement movement = *ours.Plan(change);
    for (const Flow& flow : PhaseOf(movement, "transfer").flows) {
      received[flow.receiver] += flow.bytes;
      touched[flow.receiver] += flow.bytes;
      touched[flow.sender] += flow.bytes;
    }
    EXPECT_EQ(received, lacking);
    int64_t most = 0;
    for (const auto& [rank, bytes] : touched) most = std::max(most, bytes);
    EXPECT_EQ(PhaseOf(movement, "verify").busiest_bytes, most);
  }
}

// Of the holders, the first whose tensor parallel rank is the target's, if the
// degree stays; else the first of all. Lower ranks have lower dp at equal tp.
TEST(StrategiesTest, TenplexPullsFromDataParallelRankZero) {
  for (bool sharded : {false, true}) {
    const TenplexStrategy tenplex(
        sharded ? TenplexStrategy::Optimizer::kSharded
                : TenplexStrategy::Optimizer::kReplicated);
    for (const Example& it : Examples()) {
      if (it.tied) continue;  // of its copies only one is asked
      const SwitchCase change = Make(it, sharded);
      const Elements source(change.source());
      Bytes expected;
      ForEachNeededElement(change, [&](const NeededPart& part,
                                       const std::vector<int64_t>& index) {
        const std::set<int>& holders =
            source.holders.at({part.source_tensor, index});
        int sender = *holders.begin();
        if (it.from.tp == it.to.tp) {
          for (int holder : holders) {
            if (holder % it.from.tp == part.rank % it.to.tp) {
              sender = holder;
              break;
            }
          }
        }
        const int from = change.SourceOn(sender);
        const int to = change.TargetOn(part.rank);
        if (from != to) expected[{from, to}] += part.item_bytes;
      });
      EXPECT_EQ(Sum(PhaseOf(*tenplex.Plan(change), "pull").flows), expected);
    }
  }
}

TEST(StrategiesTest, TenplexSavesOneReplicaAndLoadsAll) {
  // 1 of 2 replicas, one rank each: it saves all, each loads all.
  const SwitchCase change =
      Make({{.tp = 1}, Range(0, 2), {.tp = 1}, Range(0, 4)}, /*sharded=*/false);
  const TenplexStrategy tenplex(TenplexStrategy::Optimizer::kReplicated);
  const Movement movement = *tenplex.Plan(change);
  const int64_t job = change.source().num_bytes();
  EXPECT_EQ(PhaseOf(movement, "save").busiest_bytes, job);
  EXPECT_EQ(PhaseOf(movement, "load").busiest_bytes, job);
  EXPECT_TRUE(PhaseOf(movement, "pull").needs_source);
  EXPECT_FALSE(PhaseOf(movement, "load").needs_source);
  // Even rank 1, which has all of it, asks rank 0.
  EXPECT_EQ(Sum(PhaseOf(movement, "pull").flows),
            (Bytes{{{0, 1}, job}, {{0, 2}, job}, {{0, 3}, job}}));
}

TEST(StrategiesTest, HotSpaReusesAndStaysOnTheNode) {
  const HotSpaStrategy hotspa;
  const ClusterModel cluster = Cluster();
  for (const Example& it : Examples()) {
    if (it.tied) continue;
    const SwitchCase change = Make(it);
    const Elements source(change.source());
    std::map<int, int64_t> near, far;  // lacking bytes by receiver
    ForEachNeededElement(
        change, [&](const NeededPart& part, const std::vector<int64_t>& index) {
          const int receiver = change.TargetOn(part.rank);
          bool on_node = false;
          for (int holder : source.holders.at({part.source_tensor, index})) {
            const int on = change.SourceOn(holder);
            if (on == receiver) return;
            on_node |= cluster.NodeOf(on) == cluster.NodeOf(receiver);
          }
          (on_node ? near : far)[receiver] += part.item_bytes;
        });
    const Movement movement = *hotspa.Plan(change);
    std::map<int, int64_t> inside, between;
    for (const Flow& flow : PhaseOf(movement, "exchange").flows) {
      const bool same =
          cluster.NodeOf(flow.sender) == cluster.NodeOf(flow.receiver);
      (same ? inside : between)[flow.receiver] += flow.bytes;
    }
    EXPECT_EQ(inside, near);
    EXPECT_EQ(between, far);
  }
}

// Ranks 0 and 1 hold everything; rank 2 on their node asks for it tensor by
// tensor: whoever has sent fewer elements, the first of equals.
TEST(StrategiesTest, HotSpaAsksWhoHasSentLeast) {
  const SwitchCase change =
      Make({{.tp = 1}, Range(0, 2), {.tp = 1}, Range(0, 3)}, /*sharded=*/false);
  Bytes expected;
  std::vector<int64_t> sent(2);
  for (int i = 0; i < change.target().num_tensors(); ++i) {
    const vps::TensorSpec& spec = change.target().tensor(i);
    const int sender = sent[1] < sent[0] ? 1 : 0;
    sent[sender] += spec.whole().num_elements();
    expected[{sender, 2}] += spec.num_bytes();
  }
  const HotSpaStrategy hotspa;
  const Movement movement = *hotspa.Plan(change);
  EXPECT_EQ(Sum(PhaseOf(movement, "exchange").flows), expected);
  EXPECT_EQ(PhaseOf(movement, "unpack").busiest_bytes,
            change.target().num_bytes());
  EXPECT_TRUE(PhaseOf(movement, "exchange").one_group);
  std::vector<int64_t> sent_bytes;
  for (const auto& [pair, bytes] : expected) sent_bytes.push_back(bytes);
  EXPECT_EQ(PhaseOf(movement, "pack").busiest_bytes,
            *std::max_element(sent_bytes.begin(), sent_bytes.end()));
  EXPECT_FALSE(PhaseOf(movement, "unpack").needs_source);
}

// Rank 0 of the ranks that differ in dp alone.
int DataParallelZero(const Shape& shape, const vps::Layout& layout, int tensor,
                     int rank) {
  const bool expert =
      layout.tensor(tensor).name().find(".experts.") != std::string::npos &&
      shape.ep > 1;
  const int inner = expert ? shape.expert_tp() * shape.ep : shape.tp;
  const int stage = layout.world_size() / shape.pp;
  return rank / stage * stage + rank % stage % inner;
}

bool IsOptimizerState(const vps::TensorSpec& spec) {
  return spec.state() != "param";
}

// The first rank of a data parallel group that has any element of the tensor.
std::map<std::pair<int, int>, int> AlignedRanks(const Shape& shape,
                                                const vps::Layout& layout) {
  std::map<std::pair<int, int>, int> aligned;
  for (int rank = layout.world_size() - 1; rank >= 0; --rank) {
    layout.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
      aligned[{region.tensor,
               DataParallelZero(shape, layout, region.tensor, rank)}] = rank;
    });
  }
  return aligned;
}

TEST(StrategiesTest, ElasticMegatronGathersMovesAndScatters) {
  const ElasticMegatronStrategy elastic;
  for (const Example& it : Examples()) {
    if (it.tied) continue;
    const SwitchCase change = Make(it);
    const vps::Layout& from = change.source();
    const vps::Layout& to = change.target();
    const auto from_aligned = AlignedRanks(it.from, from);
    const auto to_aligned = AlignedRanks(it.to, to);
    const Elements source(from);
    Bytes gather, move, scatter;
    const auto add = [](Bytes& bytes, int sender, int receiver, int64_t count) {
      if (sender != receiver) bytes[{sender, receiver}] += count;
    };
    for (int rank = 0; rank < from.world_size(); ++rank) {
      from.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
        if (!IsOptimizerState(from.tensor(region.tensor))) return;
        const int zero = DataParallelZero(it.from, from, region.tensor, rank);
        add(gather, change.SourceOn(rank),
            change.SourceOn(from_aligned.at({region.tensor, zero})),
            region.global.num_elements() *
                from.tensor(region.tensor).item_bytes());
      });
    }
    ForEachNeededElement(change, [&](const NeededPart& part,
                                     const std::vector<int64_t>& index) {
      if (!IsOptimizerState(to.tensor(part.tensor))) return;
      const int holder =
          *source.holders.at({part.source_tensor, index}).begin();
      const int sender = from_aligned.at(
          {part.source_tensor,
           DataParallelZero(it.from, from, part.source_tensor, holder)});
      const int receiver = to_aligned.at(
          {part.tensor, DataParallelZero(it.to, to, part.tensor, part.rank)});
      add(move, change.SourceOn(sender), change.TargetOn(receiver),
          part.item_bytes);
    });
    // Padding too.
    for (int rank = 0; rank < to.world_size(); ++rank) {
      to.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
        if (!IsOptimizerState(to.tensor(region.tensor))) return;
        const int zero = DataParallelZero(it.to, to, region.tensor, rank);
        add(scatter, change.TargetOn(to_aligned.at({region.tensor, zero})),
            change.TargetOn(rank),
            region.global.num_elements() *
                to.tensor(region.tensor).item_bytes());
      });
    }
    const Movement movement = *elastic.Plan(change);
    EXPECT_EQ(Sum(PhaseOf(movement, "gather").flows), gather);
    EXPECT_EQ(Sum(PhaseOf(movement, "move").flows), move);
    EXPECT_EQ(Sum(PhaseOf(movement, "scatter").flows), scatter);
  }
}

// Each rank ends with its whole part of each weight: what enters it is all but
// what it casts itself.
TEST(StrategiesTest, ElasticMegatronGathersWeightsAroundRings) {
  const ElasticMegatronStrategy elastic;
  for (const Example& it : Examples()) {
    const SwitchCase change = Make(it);
    const vps::Layout& to = change.target();
    std::map<int, int64_t> expected, received;
    for (int rank = 0; rank < to.world_size(); ++rank) {
      int64_t bytes = 0;
      to.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
        const int64_t elements = region.global.num_elements();
        if (to.tensor(region.tensor).state() == "param") bytes += 2 * elements;
        if (to.tensor(region.tensor).state() == "main") bytes -= 2 * elements;
      });
      if (bytes > 0) expected[change.TargetOn(rank)] = bytes;
    }
    const Movement movement = *elastic.Plan(change);
    for (const Flow& flow : PhaseOf(movement, "gather weights").flows) {
      received[flow.receiver] += flow.bytes;
    }
    EXPECT_EQ(received, expected);
  }
}

TEST(StrategiesTest, CheckpointsAreSavedOnceAndLoadedByAll) {
  const CheckpointStrategy checkpoint;
  for (const Example& it : Examples()) {
    const SwitchCase change = Make(it);
    const vps::Layout& to = change.target();
    int64_t loaded = 0;
    for (int rank = 0; rank < to.world_size(); ++rank) {
      to.ForEachRegion(rank, [&](const vps::OwnedRegion& region) {
        loaded += region.global.num_elements() *
                  to.tensor(region.tensor).item_bytes();
      });
    }
    const Movement movement = *checkpoint.Plan(change);
    const Phase& save = PhaseOf(movement, "save");
    EXPECT_EQ(save.total_bytes, change.source().num_bytes());
    EXPECT_GE(save.busiest_bytes * Cluster().figures().num_nodes,
              save.total_bytes);
    EXPECT_LE(save.busiest_bytes, save.total_bytes);
    EXPECT_EQ(PhaseOf(movement, "load").total_bytes, loaded);
    EXPECT_TRUE(save.needs_source);
    EXPECT_FALSE(PhaseOf(movement, "load").needs_source);
  }
}

// One rank per node, 4 replicas that hold the same: each saves a quarter, up to
// the largest tensor.
TEST(StrategiesTest, ReplicasShareTheSaving) {
  const SwitchCase change = Make(
      {{.tp = 1}, {0, 4, 8, 12}, {.tp = 1}, {0, 4, 8, 12}}, /*sharded=*/false);
  const Phase save = SaveCheckpoint(change.input().source(), Cluster());
  int64_t largest = 0;
  for (int i = 0; i < change.source().num_tensors(); ++i) {
    largest = std::max(largest, change.source().tensor(i).num_bytes());
  }
  EXPECT_LE(save.busiest_bytes, save.total_bytes / 4 + largest);
}

// On equal state nobody moves less than we do.
TEST(StrategiesTest, OursMovesLeast) {
  const DynaTrainStrategy moved(DynaTrainStrategy::Weights::kMoved);
  const DynaTrainStrategy cast(DynaTrainStrategy::Weights::kCast);
  for (const Example& it : Examples()) {
    for (const std::unique_ptr<Strategy>& other : AllStrategies()) {
      if (other->through_storage()) continue;
      const SwitchCase change = Make(it, !other->replicates_optimizer());
      const bool casts =
          other->name() == "elastic-megatron" || other->name() == cast.name();
      EXPECT_LE((casts ? cast : moved).Plan(change)->network_bytes(),
                other->Plan(change)->network_bytes())
          << other->name();
    }
  }
}

TEST(StrategiesTest, NothingMovesToTheSameLayout) {
  const SwitchCase change =
      Make({{.tp = 2, .pp = 2}, Range(0, 8), {.tp = 2, .pp = 2}, Range(0, 8)});
  const DynaTrainStrategy ours(DynaTrainStrategy::Weights::kCast);
  EXPECT_EQ(ours.Plan(change)->network_bytes(), 0);
  EXPECT_EQ(HotSpaStrategy().Plan(change)->network_bytes(), 0);
}

TEST(StrategiesTest, TheSameEachTime) {
  for (const Example& it : Examples()) {
    for (const std::unique_ptr<Strategy>& strategy : AllStrategies()) {
      const bool sharded = !strategy->replicates_optimizer();
      const Movement a = *strategy->Plan(Make(it, sharded));
      const Movement b = *strategy->Plan(Make(it, sharded));
      ASSERT_EQ(a.phases.size(), b.phases.size());
      for (size_t i = 0; i < a.phases.size(); ++i) {
        EXPECT_EQ(a.phases[i].flows, b.phases[i].flows) << strategy->name();
        EXPECT_EQ(a.phases[i].busiest_bytes, b.phases[i].busiest_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace dynatrain::simulate
