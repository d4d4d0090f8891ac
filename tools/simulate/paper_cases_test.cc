#include "tools/simulate/paper_cases.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/simulate/job_cache.h"
#include "tools/simulate/switch_case.h"
#include "transition/plan/balance_senders.h"
#include "transition/preview/planned_bytes.h"

namespace dynatrain::simulate {
namespace {

using transition::ClusterModel;

ClusterModel A800() {
  return *ClusterModel::Create({.num_nodes = 16,
                                .ranks_per_node = 8,
                                .nics_per_node = 4,
                                .inside_bytes_per_second = 160'000'000'000,
                                .nic_bytes_per_second = 24'000'000'000});
}

TEST(PaperCasesTest, EachHasAPaperFigureAndFitsTheCluster) {
  for (const PaperCase& it : PaperCases()) {
    EXPECT_EQ(FindPaperCase(it.name), &it);
    EXPECT_TRUE((it.seconds > 0) != (it.ratio > 0)) << it.name;
    EXPECT_TRUE(ModelByName(it.model).ok()) << it.name;
    for (const Placed& side : {it.from, it.to}) {
      const int ranks = 8 * static_cast<int>(side.nodes.size());
      EXPECT_GT(side.shape.DataParallel(ranks), 0) << it.name;
      for (int node : side.nodes) EXPECT_LT(node, 16);
    }
  }
  EXPECT_EQ(FindPaperCase("paper-none"), nullptr);
}

TEST(PaperCasesTest, MoreNicsAreNeverSlower) {
  const PaperCase& it = *FindPaperCase("paper-single-dp");
  const JobModel model = *ModelByName(it.model);
  std::vector<StrategyTime> before;
  for (int nics : kNicBand) {
    const auto times =
        Compare(model, it.from, it.to, *WithNics(A800(), nics), {});
    ASSERT_TRUE(times.ok()) << times.status();
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_LE((*times)[i].time.ns(), before[i].time.ns());
      EXPECT_EQ((*times)[i].time.network_bytes, before[i].time.network_bytes);
    }
    EXPECT_LT(TimeOfStrategy(*times, "dynatrain").ns(),
              TimeOfStrategy(*times, "tenplex").ns());
    EXPECT_LT(TimeOfStrategy(*times, "dynatrain").ns(),
              TimeOfStrategy(*times, "checkpoint").ns());
    before = *times;
  }
}

// The promise of transition/plan/balance_senders.h on what is shipped.
TEST(PaperCasesTest, NoSenderHasMoreThanFivePercentAboveTheLeast) {
  for (const PaperCase& it : PaperCases()) {
    JobCache jobs(*ModelByName(it.model), A800());
    RunningJob from = *jobs.Get(it.from.shape, /*sharded=*/true, it.from.nodes);
    RunningJob to = *jobs.Get(it.to.shape, /*sharded=*/true, it.to.nodes);
    const SwitchCase change =
        *SwitchCase::Create(std::move(from), std::move(to), A800());
    transition::SenderBalance balance;
    transition::BalanceSenders(change.input(), {}, &balance);
    ASSERT_TRUE(balance.known) << it.name;
    int64_t heaviest = 0;
    const transition::PlannedBytes bytes =
        transition::ComputePlannedBytes(change.input());
    for (const transition::ProcessBytes& process : bytes.processes) {
      heaviest = std::max(heaviest, process.sent_bytes);
    }
    EXPECT_LE(heaviest, balance.bound_bytes * 1.05) << it.name;
  }
}

}  // namespace
}  // namespace dynatrain::simulate
