#include "api/job/serials.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::api {
namespace {

TEST(SerialsTest, FormatAndParseAreInverse) {
  const struct {
    std::vector<uint32_t> serials;
    const char* text;
  } cases[] = {{{}, ""},
               {{0}, "0"},
               {{0, 1}, "0-1"},
               {{0, 1, 2, 5}, "0-2,5"},
               {{5, 0, 1}, "5,0-1"},
               {{2, 1, 0}, "2,1,0"},
               {{4294967294u, 4294967295u}, "4294967294-4294967295"}};
  for (const auto& test : cases) {
    EXPECT_EQ(FormatSerials(test.serials), test.text);
    const auto parsed = ParseSerials(test.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, test.serials);
  }
}

TEST(SerialsTest, RefusesWhatIsNoList) {
  for (const char* text :
       {",", "1,", "a", "-1", "1-", "2-1", "1-1", "1-2-3", " 1", "+1", "1,1",
        "0-3,2", "0-4294967295", "4294967296", "99999999999999999999"}) {
    EXPECT_FALSE(ParseSerials(text).ok()) << text;
  }
}

}  // namespace
}  // namespace dynatrain::api
