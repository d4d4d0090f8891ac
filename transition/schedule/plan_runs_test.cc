#include "transition/schedule/plan_runs.h"

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "transition/plan/random_case.h"
#include "transition/plan/random_pair.h"
#include "transition/plan/world.h"
#include "transition/plan/world_for_test.h"
#include "transition/schedule/choose_schedule.h"
#include "transition/schedule/plan_moves.h"
#include "vps/layout/layout.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"

namespace dynatrain::transition {
namespace {

// A byte of one memory: which (a buffer, or tensor and copy), and where.
using Byte = std::tuple<int, int, int, int64_t>;

// The first bytes of the elements of a region, in row-major order.
std::vector<Byte> Elements(const vps::Layout& layout, int rank, int tensor,
                           int copy, const vps::Box& region) {
  std::vector<Byte> elements;
  const int64_t item_bytes = layout.tensor(tensor).item_bytes();
  const int buffer = layout.held(tensor, copy).storage.buffer;
  std::vector<int64_t> index(region.origin().begin(), region.origin().end());
  for (int64_t i = 0; i < region.num_elements(); ++i) {
    layout.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& own) {
      if (own.copy != copy || !own.global.Contains(region)) return;
      int64_t at = own.offset;
      for (size_t d = 0; d < index.size(); ++d) {
        at += (index[d] - own.global.origin(static_cast<int>(d))) *
              own.strides[d];
      }
      if (buffer == vps::Storage::kOwnTensor) {
        elements.emplace_back(buffer, tensor, copy, at * item_bytes);
      } else {
        at += layout.BufferOffset(rank, tensor, copy);
        elements.emplace_back(buffer, -1, -1, at * item_bytes);
      }
    });
    for (int d = region.dims() - 1; d >= 0; --d) {
      if (++index[d] < region.origin(d) + region.extent(d)) break;
      index[d] = region.origin(d);
    }
  }
  return elements;
}

bool Follows(const Byte& byte, const Byte& last, int64_t item_bytes) {
  return std::get<0>(byte) == std::get<0>(last) &&
         std::get<1>(byte) == std::get<1>(last) &&
         std::get<2>(byte) == std::get<2>(last) &&
         std::get<3>(byte) == std::get<3>(last) + item_bytes;
}

int64_t Rows(const std::vector<Byte>& elements, int64_t item_bytes) {
  int64_t rows = 1;
  for (size_t i = 1; i < elements.size(); ++i) {
    rows += !Follows(elements[i], elements[i - 1], item_bytes);
  }
  return rows;
}

// By enumerating elements.
template <typename Routes>
RunTable Expected(const PlanInput& input, const Routes& routes) {
  RunTable table;
  std::pair<Byte, Byte> last;
  bool last_contiguous = false;
  int64_t last_item_bytes = 0;
  for (const Route& route : routes) {
    const int64_t item_bytes = input.tensor(route.tensor).item_bytes();
    const auto source = Elements(input.source().layout(), route.source_rank,
                                 input.SourceTensor(route.tensor),
                                 route.source_copy, route.region);
    const auto target = Elements(input.target().layout(), route.target_rank,
                                 route.tensor, route.target_copy, route.region);
    const int64_t source_rows = Rows(source, item_bytes);
    const int64_t target_rows = Rows(target, item_bytes);
    const bool contiguous = source_rows == 1 && target_rows == 1;
    RunCounts& counts = table[static_cast<RunClass>((source_rows > 1 ? 1 : 0) +
                                                    (target_rows > 1 ? 2 : 0))];
    ++counts.regions;
    counts.bytes += route.region.num_elements() * item_bytes;
    const bool joins = contiguous && last_contiguous &&
                       Follows(source[0], last.first, last_item_bytes) &&
                       Follows(target[0], last.second, last_item_bytes);
    if (!joins) {
      ++counts.descriptors;
      counts.source_rows += source_rows;
      counts.target_rows += target_rows;
    }
    last = {source.back(), target.back()};
    last_contiguous = contiguous;
    last_item_bytes = item_bytes;
  }
  return table;
}

std::string Text(const RunTable& table) {
  std::string text;
  for (const RunCounts& it : table.classes) {
    absl::StrAppend(&text, it.regions, " regions, ", it.descriptors,
                    " descriptors, ", it.bytes, " B, rows ", it.source_rows,
                    " and ", it.target_rows, "\n");
  }
  return text;
}

TEST(PlanRunsTest, CountsWhatEnumerationOfElementsCounts) {
  std::mt19937_64 random = TestRandom(81);
  RunTable all;
  for (int i = 0; i < 300; ++i) {
    const PlanInput input = i % 2 == 0 ? *MakeInput(RandomCase(random))
                                       : *MakeInput(RandomPair(random));
    if (input.source().empty()) continue;
    for (const Process& process : input.target().processes()) {
      const ProcessPlan plan = *PlanForProcess(input, process.id);
      const PlanRuns runs = RunsOf(input, plan);
      ASSERT_EQ(runs.peers.size(), plan.peers.size());
      for (size_t k = 0; k < runs.peers.size(); ++k) {
        const PeerExchange& peer = plan.peers[k];
        EXPECT_EQ(runs.peers[k].peer, peer.peer);
        ASSERT_EQ(Text(runs.peers[k].send), Text(Expected(input, peer.send)));
        ASSERT_EQ(Text(runs.peers[k].receive),
                  Text(Expected(input, peer.receive)));
        EXPECT_EQ(runs.peers[k].send.total().bytes, peer.send_bytes);
      }
      std::vector<Route> copied;
      for (const LocalRoute& it : plan.local) {
        if (!it.adopted) copied.push_back(it.route);
      }
      ASSERT_EQ(Text(runs.local), Text(Expected(input, copied)));
      all += runs.receive;
      all += runs.local;
    }
  }
  for (const RunCounts& it : all.classes) EXPECT_GT(it.regions, 50);
  EXPECT_LT(all.total().descriptors, all.total().regions);
}

// A matrix cut by rows becomes one cut by columns: of each peer a block, rows
// in the sender's wide rows, contiguous in the receiver's narrow ones.
TEST(PlanRunsTest, AColumnIsOneDescriptorAndNotItsRows) {
  const auto world = [](const std::string& sizes, int dim) {
    return WorldForTest(
        sizes,
        *vps::Manifest::Create({TensorForTest("w", {64, 64}, {{"tp", dim}})}),
        {10, 20, 30, 40});
  };
  const PlanInput input = *PlanInput::Create(world("tp4", 0), world("tp4", 1));
  const PlanRuns runs = RunsOf(input, *PlanForProcess(input, 10));
  const RunCounts& counts = runs.receive[RunClass::kStridedSource];
  EXPECT_EQ(counts.descriptors, 3);
  EXPECT_EQ(counts.source_rows, 3 * 16);
  EXPECT_EQ(counts.target_rows, 3);
  EXPECT_EQ(counts.bytes, runs.receive.total().bytes);
}

constexpr int kTinyTensors = 5000;

// Tensors of 16 elements that lie end to end in one flat buffer, cut among
// `ranks` as ZeRO does; ids from `first_id`.
World FlatBuffer(int ranks, uint64_t first_id) {
  vps::LayoutBuilder builder;
  builder.AddMesh(*vps::Mesh::Create({{"dp", ranks}}));
  builder.AddBuffer("params");
  builder.AddPlacement({.flat = vps::Flat{{.axes = {0}}}});
  for (int i = 0; i < kTinyTensors; ++i) {
    const int tensor = builder.AddTensor(*vps::TensorSpec::Create(
        absl::StrCat("t", i), "param", vps::Dtype::kFloat32, {16}));
    builder.AddCopy(tensor, {.flat = {.position = int64_t{16} * i,
                                      .shard = 16 * kTinyTensors / ranks},
                             .storage = {.buffer = 0}});
  }
  std::vector<Process> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    processes.push_back({first_id + rank, static_cast<uint32_t>(rank)});
  }
  return *World::Create(*std::move(builder).Build(), std::move(processes));
}

// From 2 ranks to 4 others: half a shard each, of 1,250 tensors, as one run;
// and from 4 to 2, two shards each.
TEST(PlanRunsTest, TinyTensorsInAFlatBufferAreOneRun) {
  const PlanInput grow =
      *PlanInput::Create(FlatBuffer(2, 1), FlatBuffer(4, 10));
  for (uint64_t id = 10; id < 14; ++id) {
    const RunCounts counts =
        RunsOf(grow, *PlanForProcess(grow, id)).receive.total();
    EXPECT_EQ(counts.regions, kTinyTensors / 4);
    EXPECT_EQ(counts.descriptors, 1);
  }
  const PlanInput shrink =
      *PlanInput::Create(FlatBuffer(4, 10), FlatBuffer(2, 20));
  for (uint64_t id = 20; id < 22; ++id) {
    const PlanRuns runs = RunsOf(shrink, *PlanForProcess(shrink, id));
    EXPECT_EQ(runs.receive.total().descriptors, 2);
  }
}

// What goes to a peer is one message, however many tensors it is of.
TEST(PlanRunsTest, ThousandsOfTinyTensorsAreFewMessages) {
  const PlanInput input =
      *PlanInput::Create(FlatBuffer(2, 1), FlatBuffer(4, 10));
  const Moves moves = *MovesOf(input);
  const ScheduleChoice choice = *ChooseSchedule(
      moves.ToTraffic(),
      *ClusterModel::Create({.num_nodes = 6,
                             .ranks_per_node = 1,
                             .nics_per_node = 1,
                             .inside_bytes_per_second = 25'000'000'000,
                             .nic_bytes_per_second = 25'000'000'000}),
      {});
  size_t messages = 0;
  for (const LaneChoice& lane : choice.lanes) {
    messages += lane.schedule.parcels.size();
  }
  EXPECT_GE(moves.all().size(), kTinyTensors);
  EXPECT_EQ(messages, 4);
}

}  // namespace
}  // namespace dynatrain::transition
