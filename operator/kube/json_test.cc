#include "operator/kube/json.h"

#include <random>

#include "base/random_seed.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

TEST(JsonTest, AtWalksObjectsAndNeverThrows) {
  const Json json = {{"a", {{"b", 7}, {"s", "x"}}}, {"l", {1, 2}}};
  EXPECT_EQ(NumberAt(json, "/a/b"), 7);
  EXPECT_EQ(TextAt(json, "/a/s"), "x");
  EXPECT_EQ(TextAt(json, "/a/b", "other type"), "other type");
  EXPECT_TRUE(At(json, "/a/b/c").is_null());
  EXPECT_TRUE(At(json, "/l/0").is_null());
  EXPECT_TRUE(At(Json(), "/x").is_null());
  EXPECT_EQ(NumberAt(json, "/none", -1), -1);
}

TEST(JsonTest, DiffOfEqualObjectsIsEmpty) {
  const Json json = {{"a", {{"b", {1, 2}}}}};
  EXPECT_EQ(MergeDiff(json, json), Json::object());
}

TEST(JsonTest, DiffRemovesChangesAndAdds) {
  const Json from = {{"gone", 1}, {"kept", 2}, {"deep", {{"x", 1}, {"y", 2}}}};
  const Json to = {{"kept", 2}, {"deep", {{"x", 5}, {"y", 2}}}, {"new", {1}}};
  EXPECT_EQ(MergeDiff(from, to),
            (Json{{"gone", nullptr}, {"deep", {{"x", 5}}}, {"new", {1}}}));
}

Json Random(std::mt19937_64& rng, int depth) {
  switch (rng() % (depth == 0 ? 2 : 4)) {
    case 0:
      return static_cast<int>(rng() % 3);
    case 1:
      return Json::array({static_cast<int>(rng() % 2)});
    default: {
      Json object = Json::object();
      for (int i = rng() % 4; i > 0; --i) {
        object[std::string(1, "abcd"[rng() % 4])] = Random(rng, depth - 1);
      }
      return object;
    }
  }
}

// nlohmann's merge_patch is RFC 7386's algorithm, and so the oracle.
TEST(JsonTest, DiffAppliedToFromIsTo) {
  std::mt19937_64 rng = TestRandom();
  for (int round = 0; round < 2000; ++round) {
    Json from = {{"root", Random(rng, 3)}};
    const Json to = {{"root", Random(rng, 3)}};
    from.merge_patch(MergeDiff(from, to));
    ASSERT_EQ(from, to);
  }
}

}  // namespace
}  // namespace dynatrain::control
