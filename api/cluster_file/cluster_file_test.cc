#include "api/cluster_file/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/cluster_file/shipped_clusters.h"

namespace dynatrain::api {
namespace {

using ::testing::HasSubstr;

constexpr char kLeast[] = R"(nodes: 2
ranks_per_node: 8
nics_per_node: 4
inside_gb_per_s: 160
nic_gb_per_s: 24.5
)";

TEST(ClusterFileTest, WhatIsNotGivenHasItsDefault) {
  const ClusterFile cluster = *LoadCluster(kLeast);
  EXPECT_EQ(
      cluster.model.figures(),
      (transition::ClusterFigures{.num_nodes = 2,
                                  .ranks_per_node = 8,
                                  .nics_per_node = 4,
                                  .inside_bytes_per_second = 160'000'000'000,
                                  .nic_bytes_per_second = 24'500'000'000}));
  EXPECT_EQ(cluster.pause, transition::PauseFigures());
  EXPECT_EQ(cluster.execution, transition::Execution::kGrouped);
  EXPECT_EQ(cluster.rank_memory_bytes, 0);
}

TEST(ClusterFileTest, UnitsAreThoseOfTheNames) {
  const ClusterFile cluster = *LoadCluster(absl::StrCat(kLeast, R"(
inside_latency_us: 1.5
nic_latency_us: 20
message_us: 0.25
group_us: 40
max_group_operations: 64
execution: ordered
memory_gib: 0.5
pause: {drain_ms: 1.5, copy_gb_per_s: 2, verify_gb_per_s: 3, commit_ms: 4}
)"));
  const transition::ClusterFigures& figures = cluster.model.figures();
  EXPECT_EQ(figures.inside_latency_ns, 1'500);
  EXPECT_EQ(figures.nic_latency_ns, 20'000);
  EXPECT_EQ(figures.message_ns, 250);
  EXPECT_EQ(figures.group_ns, 40'000);
  EXPECT_EQ(figures.max_group_operations, 64);
  EXPECT_EQ(cluster.execution, transition::Execution::kOrdered);
  EXPECT_EQ(cluster.rank_memory_bytes, 1 << 29);
  EXPECT_EQ(cluster.pause.drain_ns, 1'500'000);
  EXPECT_EQ(cluster.pause.copy_bytes_per_second, 2'000'000'000);
  EXPECT_EQ(cluster.pause.verify_bytes_per_second, 3'000'000'000);
  EXPECT_EQ(cluster.pause.commit_ns, 4'000'000);
}

TEST(ClusterFileTest, ErrorsNameLineFieldValueAndRange) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"nodes: 2", "ranks_per_node is missing"},
      {"nodes: 0", "line 1: nodes: 0 is not an integer in [1, "},
      {"nodes: two", "line 1: nodes: \"two\" is not an integer"},
      {"nodes: 99999", "line 1: nodes: 99999 is not an integer in [1, 65536]"},
      {"nics_per_node: 12", "cluster: nics_per_node is 12 for 8 ranks"},
      {"nic_gb_per_s: 0",
       "line 5: nic_gb_per_s: 0 is not a number in [0.001, 1e+06]"},
      {"inside_gb_per_s: fast", "inside_gb_per_s: \"fast\" is not a number"},
      {"inside_gb_per_s: .nan", "is not a number"},
      {"nic_gbs: 3", "nic_gbs is no field here"},
      {"message_us: 5000", "message_us: 5000 is not a number in [0, 1000]"},
      {"max_group_operations: 300",
       "max_group_operations: 300 is not an integer in [2, 256]"},
      {"execution: mpi", "execution: \"mpi\" is not one of grouped, ordered"},
      {"memory_gib: -1", "memory_gib: -1 is not a number in [0.001, 1e+06]"},
      {"pause: {commit_s: 1}",
       "pause.commit_s is no field here; did you mean commit_ms?"},
      {"pause: {drain_ms: -1}", "pause.drain_ms: -1 is not a number"},
      {"pause: 3", "pause: 3 is not an object"},
  };
  for (const auto& test : cases) {
    // The field in the place of the good one of its name, else at the end.
    std::string text = kLeast;
    const std::string field(test.text);
    const size_t at = text.find(field.substr(0, field.find(':') + 1));
    if (at == std::string::npos) {
      absl::StrAppend(&text, field, "\n");
    } else {
      text.replace(at, text.find('\n', at) - at, field);
    }
    if (field == "nodes: 2") text = "nodes: 2\n";
    EXPECT_THAT(LoadCluster(text).status().message(), HasSubstr(test.message))
        << text;
  }
}

TEST(ClusterFileTest, GarbageIsRefused) {
  for (const char* text :
       {"", "[]", "3", "{", "a: b: c", "\xff\xfe", "---\n---"}) {
    EXPECT_FALSE(LoadCluster(text).ok()) << text;
  }
}

TEST(ShippedClustersTest, AllAreReadAndFoundByName) {
  EXPECT_GE(ShippedClusters().size(), 5);
  for (const ShippedCluster& shipped : ShippedClusters()) {
    EXPECT_TRUE(LoadCluster(shipped.text).ok()) << shipped.name;
    EXPECT_EQ(FindShippedCluster(shipped.name), &shipped);
    EXPECT_EQ(FindShippedCluster(absl::StrCat(shipped.name, ".yaml")),
              &shipped);
  }
  EXPECT_EQ(FindShippedCluster("nowhere"), nullptr);
  EXPECT_EQ(LoadCluster(FindShippedCluster("a800x16")->text)->model.num_ranks(),
            128);
}

}  // namespace
}  // namespace dynatrain::api
