#include "agent/client/member_report.h"

#include <gtest/gtest.h>

namespace dynatrain::agent {
namespace {

Observation Prepared() {
  Observation observation{.term = 3, .serial = 7};
  observation.ranks = {{.local_rank = 0, .step = 5},
                       {.local_rank = 1, .step = 6}};
  observation.transition = {.generation = 4,
                            .phase = transition::Phase::kPrepared};
  observation.transition.ranks = {
      {.prepared = true, .plan_digest = "d", .sent_hash = ~uint64_t{0}},
      {.prepared = true, .plan_digest = "d", .sent_hash = 3}};
  return observation;
}

TEST(MemberReportTest, SumsItsRanks) {
  const transition::MemberReport report = ReportOf(Prepared());
  EXPECT_EQ(report.serial, 7);
  EXPECT_EQ(report.reach, transition::MemberReport::Reach::kAnswering);
  EXPECT_EQ(report.seen_step, 6);
  EXPECT_EQ(report.sent_hash, 2);
  EXPECT_EQ(report.plan_digest, "d");
}

TEST(MemberReportTest, RanksThatDisagreeMatchNobody) {
  Observation observation = Prepared();
  observation.transition.ranks[1].plan_digest = "e";
  EXPECT_EQ(ReportOf(observation).plan_digest, "mixed");
}

TEST(MemberReportTest, WhatOneRankHasPlannedIsTold) {
  Observation observation = Prepared();
  observation.transition.ranks[0] = {};
  observation.transition.ranks[1].prepared = false;
  EXPECT_EQ(ReportOf(observation).plan_digest, "d");
}

}  // namespace
}  // namespace dynatrain::agent
