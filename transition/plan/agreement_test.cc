#include "transition/plan/agreement.h"

#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

using ::testing::HasSubstr;

std::vector<AgreedPart> AllParts() {
  std::vector<AgreedPart> parts;
  for (size_t i = 0; i < kNumAgreedParts; ++i) {
    parts.push_back(static_cast<AgreedPart>(i));
  }
  return parts;
}

Agreement Full() {
  Agreement agreement;
  for (const AgreedPart part : AllParts()) {
    agreement.Set(part, FingerprintOf("part"));
  }
  return agreement;
}

TEST(Agreement, EachPartIsInTheDigestAndIsNamedAlone) {
  std::vector<std::string> names;
  for (const AgreedPart part : AllParts()) {
    const Agreement other = Agreement(Full()).Set(part, FingerprintOf("x"));
    const Agreement without = Agreement(Full()).Set(part, {});
    EXPECT_NE(Full().Digest(), other.Digest());
    EXPECT_NE(Full().Digest(), without.Digest());
    const std::string name = AgreementDifference(Full().Text(), other.Text());
    EXPECT_EQ(name, AgreementDifference(other.Text(), Full().Text()));
    EXPECT_EQ(name, AgreementDifference(Full().Text(), without.Text()));
    EXPECT_THAT(names, testing::Not(testing::Contains(name)));
    names.push_back(name);
  }
  EXPECT_EQ(names[static_cast<size_t>(AgreedPart::kTargetLayout)],
            "target layout");
}

TEST(Agreement, AllPartsThatDifferAreNamed) {
  Agreement other = Full();
  other.Set(AgreedPart::kPlanner, FingerprintOf("4"));
  other.Set(AgreedPart::kSenders, {});
  EXPECT_EQ(AgreementDifference(Full().Text(), other.Text()),
            "version of the planner, balance of senders");
}

TEST(Agreement, EqualOnesDoNotDiffer) {
  EXPECT_EQ(Full().Text(), Full().Text());
  EXPECT_EQ(AgreementDifference(Full().Text(), Full().Text()), "");
  EXPECT_LT(Full().Text().size(), 256);
}

TEST(Agreement, TextsOfOthersAreShownAsTheyAre) {
  EXPECT_EQ(AgreementDifference("p1", "mine"), "digests p1 and mine");
  EXPECT_EQ(AgreementDifference("", "mine"), "digests  and mine");
  EXPECT_THAT(AgreementDifference("to", Full().Text()),
              HasSubstr("target layout"));
}

}  // namespace
}  // namespace dynatrain::transition
