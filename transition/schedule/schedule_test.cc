#include "transition/schedule/schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Traffic& Sample() {
  static const Traffic& traffic =
      *new Traffic(*Traffic::Create(3, {{0, 1, 10}, {1, 2, 4}}));
  return traffic;
}

TEST(ScheduleTest, WindowsAreSpansOfTheList) {
  const Schedule schedule = {{{0, 1, 0, 6}, {1, 2, 0, 4}, {0, 1, 6, 4}},
                             {0, 2}};
  EXPECT_EQ(schedule.num_windows(), 2);
  EXPECT_THAT(schedule.window(0),
              ElementsAre(Parcel{0, 1, 0, 6}, Parcel{1, 2, 0, 4}));
  EXPECT_THAT(schedule.window(1), ElementsAre(Parcel{0, 1, 6, 4}));
  EXPECT_EQ(MaxWindowOperations(schedule, 3), 2);
}

TEST(ScheduleTest, CheckMovesAcceptsWhatTilesTheFlows) {
  EXPECT_TRUE(
      CheckMoves({{{0, 1, 0, 6}, {1, 2, 0, 4}, {0, 1, 6, 4}}}, Sample()).ok());
}

TEST(ScheduleTest, CheckMovesNamesWhatIsWrong) {
  const auto error = [](std::vector<Parcel> parcels) {
    return std::string(CheckMoves({std::move(parcels)}, Sample()).message());
  };
  EXPECT_THAT(error({{0, 1, 0, 10}}),
              HasSubstr("from rank 1 to rank 2 only 0"));
  EXPECT_THAT(error({{0, 1, 6, 4}, {0, 1, 0, 6}}),
              HasSubstr("comes when 0 of 10"));
  EXPECT_THAT(error({{0, 1, 0, 11}}), HasSubstr("comes when 0 of 10"));
  EXPECT_THAT(error({{0, 2, 0, 1}}), HasSubstr("belongs to no flow"));
}

TEST(ScheduleTest, DigestDependsOnOrderAndWindows) {
  const Schedule schedule = {{{0, 1, 0, 10}, {1, 2, 0, 4}}, {0}};
  const Schedule swapped = {{{1, 2, 0, 4}, {0, 1, 0, 10}}, {0}};
  const Schedule cut = {schedule.parcels, {0, 1}};
  EXPECT_NE(schedule.Digest(), swapped.Digest());
  EXPECT_NE(schedule.Digest(), cut.Digest());
  EXPECT_EQ(schedule.Digest(), Schedule(schedule).Digest());
}

}  // namespace
}  // namespace dynatrain::transition
