// A trace against the Trace Event Format: what a viewer needs of each event.
#include "tools/cli/picture/trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/cli/picture/testutil.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {
namespace {

using nlohmann::json;
using transition::Preview;

std::string TraceText(const Preview& preview) {
  std::string text;
  WriteTrace("a \"plan\"", preview,
             [&](absl::string_view more) { absl::StrAppend(&text, more); });
  return text;
}

using Thread = std::pair<int64_t, int64_t>;

TEST(Trace, IsOneObjectOfEvents) {
  for (bool grouped : {false, true}) {
    const Preview preview = PreviewForTest(24, 4, 2, grouped);
    const json trace = json::parse(TraceText(preview));
    EXPECT_EQ(trace["displayTimeUnit"], "ms");
    EXPECT_EQ(trace["otherData"]["plan"], "a \"plan\"");
    std::set<Thread> named;
    std::set<int64_t> named_processes;
    std::map<Thread, std::vector<std::pair<double, double>>> spans;
    double last = 0;
    int64_t bytes = 0;
    for (const json& event : trace["traceEvents"]) {
      const Thread thread = {event["pid"], event["tid"]};
      if (event["ph"] == "M") {
        if (event["name"] == "thread_name") {
          EXPECT_TRUE(named.insert(thread).second);
          // A sender and a receiver of each of 4 ranks, then NICs.
          const std::string name = event["args"]["name"];
          EXPECT_EQ(name.starts_with("inside"), thread.second < 8) << name;
        } else if (event["name"] == "process_name") {
          EXPECT_TRUE(named_processes.insert(thread.first).second);
        }
        continue;
      }
      ASSERT_EQ(event["ph"], "X");
      EXPECT_TRUE(named.count(thread) == 1);
      EXPECT_TRUE(named_processes.count(thread.first) == 1);
      ASSERT_TRUE(event["ts"].is_number() && event["dur"].is_number());
      const double begin = event["ts"],
                   end = begin + event["dur"].get<double>();
      EXPECT_GE(begin, 0);
      EXPECT_GT(end, begin);
      spans[thread].emplace_back(begin, end);
      last = std::max(last, end);
      bytes += event["args"]["bytes"].get<int64_t>();
      EXPECT_FALSE(event["name"].get<std::string>().empty());
    }
    // Complete events of a thread must nest or follow one another.
    for (auto& [thread, of_thread] : spans) {
      std::sort(of_thread.begin(), of_thread.end());
      for (size_t i = 1; i < of_thread.size(); ++i) {
        EXPECT_GE(of_thread[i].first, of_thread[i - 1].second - 1e-3);
      }
    }
    // Once where it leaves and once where it enters.
    EXPECT_EQ(bytes, 2 * preview.traffic.total_bytes());
    // Microseconds; in order, the latency of the last parcel is not drawn.
    const double latency =
        grouped ? 0 : preview.cluster.figures().nic_latency_ns;
    EXPECT_NEAR(last * 1e3, preview.transfer_ns - latency, 1);
  }
}

// Each collective is an event that its windows, at all ports, lie within and
// name.
TEST(Trace, NamesCollectivesAndWhatIsPassedOn) {
  const Preview preview = FanOutForTest(6, 2);
  ASSERT_TRUE(preview.transfer.has_value());
  const json trace = json::parse(TraceText(preview));
  int collectives = 0, windows = 0;
  int64_t passed_on = 0;
  double begin = 0, end = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    ASSERT_EQ(event["cat"], "collective");
    ASSERT_EQ(event["args"]["collective"], 1);
    EXPECT_EQ(event["name"].get<std::string>().find("broadcast 1 of 320 MB"),
              0);
    const double from = event["ts"], to = from + event["dur"].get<double>();
    if (event["pid"] == 3) {
      ++collectives;
      begin = from;
      end = to;
      continue;
    }
    ++windows;
    passed_on += event["args"]["passed_on"].get<int64_t>();
    EXPECT_GE(from, begin);
    EXPECT_LE(to, end + 1e-3);
  }
  EXPECT_EQ(collectives, 1);
  EXPECT_GT(windows, 10);
  EXPECT_GT(passed_on, 10);
  EXPECT_NEAR(end * 1e3, preview.transfer_ns, 1);
}

TEST(Trace, OfASmallPlanReadsLikeThis) {
  const Preview preview = PreviewForTest(2, 2, 1, false);
  EXPECT_EQ(TraceText(preview), R"({"displayTimeUnit": "ms",
"otherData": {"plan": "a \"plan\"", "cluster": "2 nodes x 2 ranks, 1 NICs of 1.0 GB/s, 10.0 GB/s inside", "transfer_us": "407.000"},
"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "node 0"}},
{"ph": "M", "name": "process_sort_index", "pid": 0, "tid": 0, "args": {"sort_index": 0}},
{"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "inside rank 0 sends"}},
{"ph": "M", "name": "thread_sort_index", "pid": 0, "tid": 0, "args": {"sort_index": 0}},
{"ph": "M", "name": "thread_name", "pid": 0, "tid": 3, "args": {"name": "inside rank 1 receives"}},
{"ph": "M", "name": "thread_sort_index", "pid": 0, "tid": 3, "args": {"sort_index": 3}},
{"ph": "X", "name": "to rank 1", "cat": "transfer", "pid": 0, "tid": 0, "ts": 0.000, "dur": 402.000, "args": {"sender": 0, "receiver": 1, "bytes": 4000000, "offset_bytes": 0}},
{"ph": "X", "name": "from rank 0", "cat": "transfer", "pid": 0, "tid": 3, "ts": 0.000, "dur": 402.000, "args": {"sender": 0, "receiver": 1, "bytes": 4000000, "offset_bytes": 0}}
]}
)");
}

}  // namespace
}  // namespace dynatrain::cli
