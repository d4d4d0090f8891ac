#include "tools/simulate/trace.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;
constexpr char kHeader[] = "time_s,event,nodes,notice_s\n";

absl::StatusOr<Trace> Parse(const std::string& rows, int nodes = 4) {
  return Trace::Parse(absl::StrCat(kHeader, rows), nodes);
}

TEST(TraceTest, CountsTakeTheLowestThatComeAndTheHighestThatGo) {
  const auto trace = Parse(
      "0,+,3,\n"
      "# a remark\n"
      "\n"
      "1.5,-,2,120  # spot\n"
      " 2 , + , 1 ,\r\n");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_THAT(
      trace->events(),
      ElementsAre(TraceEvent{0, true, {0, 1, 2}, 0, 2},
                  TraceEvent{3 * kSecond / 2, false, {1, 2}, 120 * kSecond, 5},
                  TraceEvent{2 * kSecond, true, {1}, 0, 6}));
}

TEST(TraceTest, NamesAreNodesOfTheCluster) {
  const auto trace = Parse("0,+,n3;n0\n5,-,n3,0\n");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_THAT(trace->events(),
              ElementsAre(TraceEvent{0, true, {0, 3}, 0, 2},
                          TraceEvent{5 * kSecond, false, {3}, 0, 3}));
}

TEST(TraceTest, TheExampleIsOne) {
  std::ifstream file("examples/simulate/spot.csv");
  std::stringstream text;
  text << file.rdbuf();
  const auto trace = Trace::Parse(text.str(), 16);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->events().size(), 26);
}

TEST(TraceTest, NoEventsAreATrace) {
  const auto trace = Parse("");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE(trace->events().empty());
}

TEST(TraceTest, WhatIsWrongIsNamedWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"0,+\n", "line 2: 2 columns"},
      {"0,+,1,,\n", "line 2: 5 columns"},
      {"x,+,1,\n", "line 2: time_s: \"x\""},
      {"-1,+,1,\n", "line 2: time_s: \"-1\""},
      {"nan,+,1,\n", "line 2: time_s: \"nan\""},
      {"1e99,+,1,\n", "line 2: time_s: \"1e99\""},
      {"5,+,1,\n4,+,1,\n", "line 3: time_s: \"4\" is before"},
      {"0,join,1,\n", "line 2: event: \"join\" is neither"},
      {"0,+,0,\n", "line 2: nodes: \"0\" is neither a count in [1, 4]"},
      {"0,+,5,\n", "line 2: nodes: \"5\""},
      {"0,-,1,\n", "line 2: nodes: \"1\" can't go: no node is there"},
      {"0,+,4,\n1,+,1,\n", "line 3: nodes: \"1\" can't come: all nodes are"},
      {"0,+,n4,\n", "n0 to n3"},
      {"0,+,n1;,\n", "line 2: nodes: \"n1;\""},
      {"0,+,n1;n1,\n", "n1 is there already"},
      {"0,+,n1,\n1,-,n1,60\n2,-,n1,60\n", "n1 is not there or goes already"},
      {"0,+,1,60\n", "line 2: notice_s: \"60\" is for nodes that go"},
      {"0,+,1,\n1,-,1,soon\n", "line 3: notice_s: \"soon\""},
      {std::string("0,+,\x01,\n"), "\\x01"},
  };
  for (const auto& [rows, message] : wrong) {
    const auto trace = Parse(rows);
    ASSERT_FALSE(trace.ok()) << rows;
    EXPECT_TRUE(absl::IsInvalidArgument(trace.status()));
    EXPECT_THAT(trace.status().message(), HasSubstr(message)) << rows;
  }
  EXPECT_THAT(Trace::Parse("", 4).status().message(),
              HasSubstr("the first line is time_s,event,nodes,notice_s"));
  EXPECT_THAT(Trace::Parse("time,event\n", 4).status().message(),
              HasSubstr("line 1: \"time,event\" is not the header"));
}

}  // namespace
}  // namespace dynatrain::simulate
