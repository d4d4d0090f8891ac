// How evenly replicas are used: the busiest sender against the mean over all
// that could send. Only changes are listed in which every source rank holds as
// much as any other, so that the mean is what the best plan reaches.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transition/plan/byte_matrix.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/world_for_test.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::transition {
namespace {

// A GPT of a few million parameters: large and tiny tensors, in turn.
vps::Manifest Gpt() {
  std::vector<vps::ManifestTensor> tensors;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape,
                       int tp_dim) {
    for (const char* state : {"param", "exp_avg", "exp_avg_sq", "step"}) {
      const bool scalar = absl::string_view(state) == "step";
      vps::Sharding sharding;
      if (!scalar && tp_dim >= 0) sharding.push_back({"tp", tp_dim});
      if (!scalar) sharding.push_back({"dp", 0});
      tensors.push_back(
          {*vps::TensorSpec::Create(name, state, vps::Dtype::kFloat32,
                                    scalar ? std::vector<int64_t>() : shape),
           std::move(sharding)});
    }
  };
  add("embedding", {256, 256}, 0);
  for (int layer = 0; layer < 6; ++layer) {
    const std::string prefix = absl::StrCat("layers.", layer, ".");
    add(prefix + "attention.qkv.weight", {768, 256}, 0);
    add(prefix + "attention.qkv.bias", {768}, 0);
    add(prefix + "attention.out.weight", {256, 256}, 1);
    add(prefix + "attention.out.bias", {256}, -1);
    add(prefix + "mlp.up.weight", {1024, 256}, 0);
    add(prefix + "mlp.down.weight", {256, 1024}, 1);
    add(prefix + "norm.weight", {256}, -1);
  }
  return *vps::Manifest::Create(std::move(tensors));
}

World MakeWorld(const std::string& sizes, int first_process) {
  const int size = vps::AxisSizes::Parse(sizes)->world_size();
  std::vector<uint64_t> ids;
  // Ten apart: each process has a member of its own.
  for (int rank = 0; rank < size; ++rank) {
    ids.push_back(static_cast<uint64_t>(first_process + rank) * 10);
  }
  return WorldForTest(sizes, Gpt(), ids);
}

TEST(Balance, BusiestSenderIsCloseToTheMean) {
  struct Change {
    const char* source;
    const char* target;
    bool disjoint;
  };
  const Change changes[] = {
      {"rep2", "rep3", false},
      {"rep2", "rep4", false},
      {"rep3", "rep5", false},
      {"rep3", "rep4", false},
      {"rep8", "rep12", false},
      {"rep4", "dp8", true},
      {"rep4", "tp4", true},
      {"rep3", "dp2,tp2", true},
      {"dp2,rep2", "dp2,rep4", true},
      {"tp2,rep3", "tp2,rep2", true},
      {"dp2,tp2,rep2", "dp4,tp2", true},
      {"rep4", "rep1", true},
      {"rep6", "dp2,rep2", true},
  };
  for (const auto& [source, target, disjoint] : changes) {
    const World before = MakeWorld(source, 1);
    const World after = MakeWorld(target, disjoint ? 101 : 1);
    const ByteMatrix matrix =
        ComputeByteMatrix(*PlanInput::Create(before, after));
    const double mean =
        static_cast<double>(matrix.moved_bytes) / matrix.source_size;
    EXPECT_LE(matrix.max_sent_bytes / mean, 1.01)
        << source << " -> " << target << ": " << matrix.max_sent_bytes
        << " bytes, mean " << mean;
  }
}

// One rank that joins 64 replicas asks 32 of them, the next one the others.
TEST(Balance, JoinersOfManyReplicasAskFewAndNotTheSame) {
  const PlanInput input =
      *PlanInput::Create(MakeWorld("rep64", 1), MakeWorld("rep66", 1));
  std::set<uint64_t> asked;
  for (int rank : {64, 65}) {
    const ProcessPlan plan =
        *PlanForProcess(input, input.target().process(rank).id);
    EXPECT_EQ(std::count_if(plan.peers.begin(), plan.peers.end(),
                            [](const PeerExchange& peer) {
                              return !peer.receive.empty();
                            }),
              32);
    for (const PeerExchange& peer : plan.peers) {
      if (!peer.receive.empty()) asked.insert(peer.peer.id);
    }
  }
  EXPECT_EQ(asked.size(), 64);
}

}  // namespace
}  // namespace dynatrain::transition
