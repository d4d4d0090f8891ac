#include "operator/reconcile/loss.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;

// w is cut over dp, scale is on every rank.
constexpr char kManifest[] = R"({"version": 1, "tensors": [
  {"name": "scale", "state": "param", "dtype": "float32", "shape": [4],
   "splits": []},
  {"name": "w", "state": "param", "dtype": "float32", "shape": [4, 8],
   "splits": [{"axis": "dp", "dim": 0}]}]})";

std::string Loss(const std::string& layout, const std::string& members,
                 const std::vector<uint32_t>& lost,
                 const std::string& manifest) {
  Snapshot snapshot;
  snapshot.manifest = manifest;
  snapshot.job.status.layout.text = layout;
  snapshot.job.status.members = members;
  const api::JobSpec spec;
  const Round round(snapshot, spec);
  return DescribeLoss(round, lost);
}

TEST(LossTest, NamesWhatHasNoCopy) {
  const std::string text = Loss("dp2,tp1,pp1", "4,7", {7}, kManifest);
  EXPECT_THAT(text, HasSubstr("64 bytes of 1 tensor"));
  EXPECT_THAT(text, HasSubstr("w"));
  EXPECT_THAT(text, HasSubstr("rank 1"));
}

TEST(LossTest, SaysIfEverythingHasACopy) {
  EXPECT_THAT(Loss("dp1,tp1,pp1,rep2", "0-1", {1}, kManifest),
              HasSubstr("every tensor has a copy"));
}

TEST(LossTest, SaysWhyItCantTell) {
  EXPECT_THAT(Loss("dp2,tp1,pp1", "0-1", {1}, ""), HasSubstr("no agent"));
  EXPECT_THAT(Loss("dp2,tp1,pp1", "0-1", {1}, "nonsense"),
              HasSubstr("can't be told"));
  EXPECT_THAT(Loss("dp3,tp1,pp1", "0-1", {1}, kManifest),
              HasSubstr("doesn't fit"));
}

}  // namespace
}  // namespace dynatrain::control
