#include "operator/driver/job_key.h"

#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

// RFC 4231, test case 2 has too short a key for us; case 6's key is long.
TEST(JobKeyTest, IsHmacSha256) {
  const auto keys = JobKeys::Create(std::string(131, '\xaa'));
  EXPECT_EQ(
      keys->KeyOf("Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(JobKeyTest, DiffersByJobAndBySecret) {
  const auto a = JobKeys::Create("0123456789abcdef");
  const auto b = JobKeys::Create("0123456789abcdeF");
  EXPECT_NE(a->KeyOf("uid-1"), a->KeyOf("uid-2"));
  EXPECT_NE(a->KeyOf("uid-1"), b->KeyOf("uid-1"));
}

TEST(JobKeyTest, RefusesAShortSecretAndAMissingFile) {
  EXPECT_EQ(JobKeys::Create("short").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(JobKeys::FromFile("/no/such/file").status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace dynatrain::control
