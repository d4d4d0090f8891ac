#include "tools/simulate/job_cache.h"

#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/model/families.h"
#include "vps/model/model_config.h"
#include "vps/model/state_list.h"

namespace dynatrain::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kMost = static_cast<int>(JobCache::kMostLayouts);

// Nodes of two ranks each, one more than layouts are kept.
JobCache Cache() {
  return JobCache({.name = "tiny",
                   .config = *vps::ModelConfig::Create({.hidden = 16,
                                                        .layers = 2,
                                                        .heads = 4,
                                                        .ffn = 32,
                                                        .vocabulary = 64}),
                   .states = *vps::StateList::Preset("bf16-mixed")},
                  *transition::ClusterModel::Create(
                      {.num_nodes = kMost + 1,
                       .ranks_per_node = 2,
                       .nics_per_node = 1,
                       .inside_bytes_per_second = 1'000'000'000,
                       .nic_bytes_per_second = 1'000'000'000}));
}

std::vector<int> FirstNodes(int number) {
  std::vector<int> nodes(number);
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

// Copies of a layout share what it is made of.
bool IsSameLayout(const RunningJob& a, const RunningJob& b) {
  return &a.world.layout().tensor(0) == &b.world.layout().tensor(0);
}

TEST(JobCacheTest, AJobIsOnAllRanksOfItsNodes) {
  JobCache jobs = Cache();
  const RunningJob job = *jobs.Get({.tp = 2}, true, {5, 3});
  std::vector<uint64_t> ids;
  for (const transition::Process& it : job.world.processes()) {
    ids.push_back(it.id);
  }
  EXPECT_THAT(ids, ElementsAre(ProcessOn(10), ProcessOn(11), ProcessOn(6),
                               ProcessOn(7)));
  EXPECT_EQ(job.world.process(2).member, 3);
}

TEST(JobCacheTest, OtherNodesShareALayoutAndOtherJobsDoNot) {
  JobCache jobs = Cache();
  const RunningJob job = *jobs.Get({.tp = 2}, true, {0, 1});
  EXPECT_TRUE(IsSameLayout(job, *jobs.Get({.tp = 2}, true, {2, 1})));
  EXPECT_FALSE(IsSameLayout(job, *jobs.Get({.tp = 1}, true, {0, 1})));
  EXPECT_FALSE(IsSameLayout(job, *jobs.Get({.tp = 2}, false, {0, 1})));
  EXPECT_FALSE(IsSameLayout(job, *jobs.Get({.tp = 2}, true, {0})));
}

TEST(JobCacheTest, ForgetsWhatWasNotUsedForLongest) {
  JobCache jobs = Cache();
  const RunningJob one = *jobs.Get({}, true, FirstNodes(1));
  const RunningJob two = *jobs.Get({}, true, FirstNodes(2));
  for (int nodes = 3; nodes <= kMost; ++nodes) {
    ASSERT_TRUE(jobs.Get({}, true, FirstNodes(nodes)).ok());
  }
  EXPECT_TRUE(IsSameLayout(one, *jobs.Get({}, true, FirstNodes(1))));
  ASSERT_TRUE(jobs.Get({}, true, FirstNodes(kMost + 1)).ok());
  EXPECT_TRUE(IsSameLayout(one, *jobs.Get({}, true, FirstNodes(1))));
  EXPECT_FALSE(IsSameLayout(two, *jobs.Get({}, true, FirstNodes(2))));
}

TEST(JobCacheTest, WhatDoesNotFitIsRefusedEachTime) {
  JobCache jobs = Cache();
  for (int i = 0; i < 2; ++i) {
    const auto job = jobs.Get({.tp = 8}, true, {0});
    EXPECT_TRUE(absl::IsInvalidArgument(job.status())) << job.status();
    EXPECT_THAT(job.status().message(), HasSubstr("tp"));
  }
}

}  // namespace
}  // namespace dynatrain::simulate
