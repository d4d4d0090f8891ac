#include "agent/utf8.h"

#include <gtest/gtest.h>

namespace dynatrain::agent {
namespace {

TEST(Utf8Test, TakesWhatIsUtf8) {
  for (absl::string_view text :
       {"", "loss=1", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
        "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

TEST(Utf8Test, RefusesTheRest) {
  for (absl::string_view text :
       {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xE2\x28\xA1", "a\xFF"}) {
    EXPECT_FALSE(IsUtf8(text));
  }
}

}  // namespace
}  // namespace dynatrain::agent
