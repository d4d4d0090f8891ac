#include "transition/preview/timeline.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "transition/plan/random_pair.h"
#include "transition/preview/preview.h"

namespace dynatrain::transition {
namespace {

// So slow that the few bytes of random pairs take some time.
ClusterModel SlowCluster(int nics_per_node) {
  return *ClusterModel::Create({.num_nodes = 6,
                                .ranks_per_node = 4,
                                .nics_per_node = nics_per_node,
                                .inside_bytes_per_second = 10'000'000,
                                .nic_bytes_per_second = 1'000'000});
}

// Whatever moves is there, and takes as long as the preview says.
TEST(Timeline, EndsWhenThePreviewSays) {
  std::mt19937_64 random = TestRandom();
  for (int i = 0; i < 200; ++i) {
    const ClusterModel cluster = SlowCluster(i % 3 == 0 ? 2 : 4);
    PreviewOptions options;
    options.schedule.execution =
        i % 2 == 0 ? Execution::kOrdered : Execution::kGrouped;
    const PairCase pair = RandomPair(random);
    const Preview preview = *MakePreview(*MakeInput(pair), cluster, options);
    int64_t bytes = 0;
    for (const LaneTimeline& timeline : TimelinesOf(preview)) {
      int64_t end = 0;
      for (const TransferTime& transfer : timeline.transfers) {
        ASSERT_LT(transfer.begin, transfer.end);
        end = std::max(end, transfer.end);
        bytes += transfer.parcel.bytes;
      }
      if (timeline.transfers.empty()) {
        ASSERT_EQ(timeline.ns, 0);
      } else if (timeline.grouped) {
        ASSERT_EQ(timeline.ns, end);
      } else {
        ASSERT_EQ(timeline.ns, end + cluster.LatencyNs(timeline.lane));
      }
    }
    ASSERT_EQ(bytes, preview.traffic.total_bytes()) << pair;
  }
}

// In order, a port does one thing at a time: what is drawn as one transfer went
// without a pause.
TEST(Timeline, TransfersOfAPortFollowOneAnother) {
  std::mt19937_64 random = TestRandom(2);
  for (int i = 0; i < 100; ++i) {
    const ClusterModel cluster = SlowCluster(4);
    PreviewOptions options;
    options.schedule.execution = Execution::kOrdered;
    options.schedule.list.unit_bytes = 4;
    const PairCase pair = RandomPair(random);
    const Preview preview = *MakePreview(*MakeInput(pair), cluster, options);
    for (const LaneTimeline& timeline : TimelinesOf(preview)) {
      std::map<int, std::vector<std::pair<int64_t, int64_t>>> sent;
      for (const TransferTime& it : timeline.transfers) {
        sent[it.parcel.sender].emplace_back(it.begin, it.end);
      }
      for (auto& [sender, times] : sent) {
        std::sort(times.begin(), times.end());
        for (size_t j = 1; j < times.size(); ++j) {
          ASSERT_GE(times[j].first, times[j - 1].second)
              << "rank " << sender << ": " << pair;
        }
      }
    }
  }
}

// Stages follow one another: bytes of all, and the time of all.
TEST(Timeline, OfStagesIsThatOfAll) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < 50; ++i) {
    const ClusterModel cluster = SlowCluster(4);
    PreviewOptions options;
    options.staging.emplace();
    const PairCase pair = RandomPair(random);
    const Preview preview = *MakePreview(*MakeInput(pair), cluster, options);
    int64_t bytes = 0, last = 0;
    for (const LaneTimeline& timeline : TimelinesOf(preview)) {
      for (const TransferTime& it : timeline.transfers) {
        bytes += it.parcel.bytes;
      }
      last = std::max(last, timeline.ns);
    }
    ASSERT_EQ(bytes, preview.traffic.total_bytes()) << pair;
    ASSERT_EQ(last, preview.transfer_ns) << pair;
  }
}

// Nobody passes on what it doesn't have yet, in any stage, and all of it takes
// as long as the preview says.
TEST(Timeline, OfCollectivesIsThatOfTheirWindows) {
  std::mt19937_64 random = TestRandom(2);
  int with_some = 0;
  for (int i = 0; i < 100; ++i) {
    const ClusterModel cluster = SlowCluster(i % 3 == 0 ? 2 : 4);
    PreviewOptions options;
    options.schedule.execution =
        i % 2 == 0 ? Execution::kOrdered : Execution::kGrouped;
    options.collectives = CollectiveOptions{.min_bytes = 1};
    if (i % 4 > 1) options.staging.emplace();
    const PairCase pair = RandomPair(random);
    const Preview preview = *MakePreview(*MakeInput(pair), cluster, options);
    int64_t last = 0;
    std::vector<LaneTransfer> all;
    const std::vector<LaneTimeline> timelines = TimelinesOf(preview);
    for (const LaneTimeline& it : timelines) {
      last = std::max(last, it.ns);
      all.insert(all.end(), it.transfers.begin(), it.transfers.end());
    }
    ASSERT_EQ(last, preview.transfer_ns) << pair;
    ASSERT_GE(SentTraffic(preview).total_bytes(),
              preview.traffic.total_bytes());
    const std::vector<CollectiveTime>& collectives =
        timelines.front().collectives;
    for (const LaneTransfer& it : all) {
      if (it.collective < 0) continue;
      ASSERT_GE(it.begin, collectives[it.collective].begin);
      ASSERT_LE(it.end, collectives[it.collective].end);
      if (!it.passed_on) continue;
      ASSERT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const LaneTransfer& before) {
                                return before.collective == it.collective &&
                                       before.parcel.receiver ==
                                           it.parcel.sender &&
                                       before.end <= it.begin;
                              }))
          << pair;
    }
    with_some += !collectives.empty();
  }
  EXPECT_GT(with_some, 5);
}

}  // namespace
}  // namespace dynatrain::transition
