#include "operator/kube/object_cache.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using Type = WatchEvent::Type;

Json Object(const std::string& name, int version) {
  return {{"metadata",
           {{"namespace", "ns"},
            {"name", name},
            {"resourceVersion", std::to_string(version)}}}};
}

TEST(ObjectCacheTest, ListThenEvents) {
  ObjectCache cache;
  EXPECT_THAT(cache.Replace({{Object("a", 5), Object("b", 7)}, "10"}),
              SizeIs(2));
  EXPECT_THAT(cache.Apply({Type::kModified, Object("a", 11)}), SizeIs(1));
  EXPECT_EQ(ResourceVersionOf(*cache.Find("ns", "a")), "11");
  EXPECT_THAT(cache.Apply({Type::kDeleted, Object("b", 12)}), SizeIs(1));
  EXPECT_EQ(cache.Find("ns", "b"), nullptr);
  EXPECT_EQ(cache.resource_version(), "12");
}

TEST(ObjectCacheTest, BookmarksOnlyMoveTheVersion) {
  ObjectCache cache;
  cache.Replace({{Object("a", 5)}, "10"});
  EXPECT_THAT(cache.Apply({Type::kBookmark, Object("", 20)}), IsEmpty());
  EXPECT_EQ(cache.resource_version(), "20");
  EXPECT_THAT(cache.All(), SizeIs(1));
}

TEST(ObjectCacheTest, ARelistDeliversMissedDeletionsAndKeepsTheRest) {
  ObjectCache cache;
  cache.Replace({{Object("a", 5), Object("b", 7)}, "10"});
  const auto changes = cache.Replace({{Object("a", 5), Object("c", 12)}, "15"});
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(NameOf(changes[0].object()), "c");
  EXPECT_EQ(NameOf(changes[1].object()), "b");
  EXPECT_EQ(changes[1].after, nullptr);
}

TEST(ObjectCacheTest, GroupsFollowTheObjects) {
  ObjectCache cache(
      [](const Json& object) { return NameOf(object).substr(0, 1); });
  cache.Replace({{Object("a1", 5), Object("a2", 6), Object("b1", 7)}, "10"});
  EXPECT_THAT(cache.All("a"), SizeIs(2));
  cache.Apply({Type::kModified, Object("a1", 11)});
  cache.Apply({Type::kDeleted, Object("a2", 12)});
  ASSERT_THAT(cache.All("a"), SizeIs(1));
  EXPECT_EQ(ResourceVersionOf(*cache.All("a")[0]), "11");
  cache.Replace({{}, "20"});
  EXPECT_THAT(cache.All("a"), IsEmpty());
  EXPECT_THAT(cache.All("b"), IsEmpty());
}

TEST(ObjectCacheTest, ReadsItsOwnWriteBeforeTheWatchTells) {
  ObjectCache cache;
  cache.Replace({{Object("a", 5)}, "10"});
  EXPECT_THAT(cache.ApplyOwnWrite(Object("a", 20)), SizeIs(1));
  // The watch is behind: an older version is no news.
  EXPECT_THAT(cache.Apply({Type::kModified, Object("a", 15)}), IsEmpty());
  EXPECT_EQ(ResourceVersionOf(*cache.Find("ns", "a")), "20");
  EXPECT_THAT(cache.Apply({Type::kModified, Object("a", 20)}), IsEmpty());
}

TEST(ObjectCacheTest, ALateAnswerDoesNotRaiseTheDead) {
  ObjectCache cache;
  cache.Replace({{Object("a", 5)}, "10"});
  cache.Apply({Type::kDeleted, Object("a", 21)});
  EXPECT_THAT(cache.ApplyOwnWrite(Object("a", 20)), IsEmpty());
  EXPECT_EQ(cache.Find("ns", "a"), nullptr);
}

TEST(ObjectCacheTest, ARelistOlderThanOurWriteKeepsIt) {
  ObjectCache cache;
  cache.Replace({{}, "10"});
  cache.ApplyOwnWrite(Object("mine", 20));
  EXPECT_THAT(cache.Replace({{}, "15"}), IsEmpty());
  EXPECT_NE(cache.Find("ns", "mine"), nullptr);
  EXPECT_THAT(cache.Replace({{}, "25"}), SizeIs(1));
}

}  // namespace
}  // namespace dynatrain::control
