// Small plans that can be read. The laws on random worlds are in
// process_plan_property_test.cc.
#include "transition/plan/process_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/plan/world_for_test.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/mesh.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

vps::Manifest Model() {
  return *vps::Manifest::Create({TensorForTest("norm", {4}, {}),
                                 TensorForTest("w", {8, 4}, {{"dp", 0}})});
}

// All that a process receives, "<peer id>: <route>".
std::vector<std::string> Received(const PlanInput& input, uint64_t id) {
  std::vector<std::string> texts;
  const ProcessPlan plan = *PlanForProcess(input, id);
  for (const PeerExchange& peer : plan.peers) {
    for (const Route& route : peer.receive) {
      texts.push_back(
          absl::StrCat(peer.peer.id, ": ", route.DebugString(input)));
    }
  }
  return texts;
}

TEST(ProcessPlan, OfAGrowingWorldKeepsFirstAndSpreadsReplicas) {
  const PlanInput input =
      *PlanInput::Create(WorldForTest("dp2", Model(), {10, 20}),
                         WorldForTest("dp4", Model(), {10, 20, 30, 40}));
  EXPECT_THAT(Received(input, 10), IsEmpty());
  EXPECT_THAT(Received(input, 20),
              ElementsAre("10: w/param [2:4, 0:4] from rank 0 to rank 1"));
  // norm is on both old ranks: the two joiners ask different ones.
  EXPECT_THAT(Received(input, 30),
              ElementsAre("10: norm/param [0:4] from rank 0 to rank 2",
                          "20: w/param [4:6, 0:4] from rank 1 to rank 2"));
  EXPECT_THAT(Received(input, 40),
              ElementsAre("20: norm/param [0:4] from rank 1 to rank 3",
                          "20: w/param [6:8, 0:4] from rank 1 to rank 3"));
  const ProcessPlan plan = *PlanForProcess(input, 10);
  EXPECT_EQ(plan.bytes.kept_bytes, 16 + 32);
  EXPECT_EQ(plan.bytes.adopted_bytes, 16);  // norm; w shrinks
  EXPECT_EQ(plan.bytes.sent_bytes, 16 + 32);
}

TEST(ProcessPlan, OfALeaverOnlySends) {
  const PlanInput input =
      *PlanInput::Create(WorldForTest("dp2", Model(), {10, 20}),
                         WorldForTest("dp1", Model(), {10}));
  const ProcessPlan plan = *PlanForProcess(input, 20);
  EXPECT_EQ(plan.source_rank, 1);
  EXPECT_EQ(plan.target_rank, -1);
  EXPECT_THAT(plan.local, IsEmpty());
  ASSERT_EQ(plan.peers.size(), 1);
  EXPECT_EQ(plan.peers[0].peer_target_rank, 0);
  EXPECT_THAT(plan.peers[0].receive, IsEmpty());
  EXPECT_EQ(plan.bytes.sent_bytes, 64);
  EXPECT_EQ(plan.bytes.minimal_bytes, 0);
}

TEST(ProcessPlan, PrefersHoldersInTheSameMember) {
  // 31 joins in the member of 30, which holds norm too.
  const PlanInput input =
      *PlanInput::Create(WorldForTest("rep3", Model(), {10, 20, 30}),
                         WorldForTest("rep4", Model(), {10, 20, 30, 31}));
  for (const std::string& text : Received(input, 31)) {
    EXPECT_THAT(text, HasSubstr("30: "));
  }
}

TEST(ProcessPlan, CutsLargeRegionsAmongTheHolders) {
  const vps::Manifest model =
      *vps::Manifest::Create({TensorForTest("w", {64, 4}, {})});
  const PlanInput input = *PlanInput::Create(
      WorldForTest("rep2", model, {10, 20}), WorldForTest("rep1", model, {30}),
      {.min_sender_bytes = 256});
  EXPECT_THAT(Received(input, 30),
              ElementsAre("10: w/param [0:32, 0:4] from rank 0 to rank 0",
                          "20: w/param [32:64, 0:4] from rank 1 to rank 0"));
}

// One element of [1, 2] per rank, flattened: of a rank's part of dim 1, or of
// the whole tensor, whose rows are longer.
World OneElementEach(bool cut_first) {
  vps::LayoutBuilder builder;
  builder.AddMesh(*vps::Mesh::Create({{"none", 1}, {"dp", 2}}));
  vps::Placement placement = {.flat = vps::Flat{{{cut_first ? 0 : 1}}}};
  if (cut_first) placement.cuts = {{.group = {{1}}, .dim = 1}};
  builder.AddPlacement(placement);
  builder.AddTensor(TensorForTest("w", {1, 2}, {}).spec);
  builder.AddCopy(0, {.placement = 0, .flat = {.position = 0, .shard = 1}});
  return *World::Create(*std::move(builder).Build(),
                        {{.id = 10, .member = 1}, {.id = 20, .member = 2}});
}

TEST(ProcessPlan, AdoptsWhatOnlyHasOtherStridesAlongOneIndex) {
  const PlanInput input =
      *PlanInput::Create(OneElementEach(true), OneElementEach(false));
  for (uint64_t id : {10, 20}) {
    const ProcessPlan plan = *PlanForProcess(input, id);
    EXPECT_EQ(plan.bytes.kept_bytes, 4);
    EXPECT_EQ(plan.bytes.adopted_bytes, 4);
  }
}

TEST(ProcessPlan, OfTheFirstStartIsEmpty) {
  const PlanInput input =
      *PlanInput::Create(World(), WorldForTest("dp2", Model(), {10, 20}));
  const ProcessPlan plan = *PlanForProcess(input, 20);
  EXPECT_EQ(plan.target_rank, 1);
  EXPECT_THAT(plan.peers, IsEmpty());
  EXPECT_THAT(plan.local_blobs, IsEmpty());
  EXPECT_EQ(plan.bytes.minimal_bytes, 0);
}

TEST(ProcessPlan, OfAStrangerIsRefused) {
  const World world = WorldForTest("dp1", Model(), {10});
  const auto plan = PlanForProcess(*PlanInput::Create(world, world), 77);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("process 77"));
}

}  // namespace
}  // namespace dynatrain::transition
