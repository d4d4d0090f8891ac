#include "operator/reconcile/model_check.h"

#include <string>

#include "gtest/gtest.h"
#include "operator/reconcile/condition.h"

namespace dynatrain::control {
namespace {

// 4 + 32 parameters; moments and buffers are none.
constexpr char kManifest[] = R"({"version": 1, "tensors": [
  {"name": "scale", "state": "param", "dtype": "float32", "shape": [4],
   "splits": []},
  {"name": "steps", "state": "buffer", "dtype": "int64", "shape": [],
   "splits": []},
  {"name": "w", "state": "exp_avg", "dtype": "float32", "shape": [4, 8],
   "splits": [{"axis": "dp", "dim": 0}]},
  {"name": "w", "state": "param", "dtype": "float32", "shape": [4, 8],
   "splits": [{"axis": "dp", "dim": 0}]}]})";

// The condition after a round; null if there is none.
const api::Condition* After(Snapshot& snapshot, int64_t told) {
  api::JobSpec spec;
  spec.parallelism.model.parameters = told;
  Round round(snapshot, spec);
  CheckModel(round);
  snapshot.job.status = round.next;
  return FindCondition(snapshot.job.status, "ModelAsTold");
}

TEST(ModelCheckTest, ComparesTheParametersOnceTheManifestIsKnown) {
  Snapshot snapshot;
  snapshot.job.metadata.generation = 1;
  EXPECT_EQ(After(snapshot, 36), nullptr);
  snapshot.manifest = kManifest;
  EXPECT_TRUE(After(snapshot, 36)->status);
  snapshot.job.metadata.generation = 2;  // an edit
  const api::Condition* condition = After(snapshot, 35);
  EXPECT_FALSE(condition->status);
  EXPECT_EQ(condition->message,
            "the program's model has 36 parameters, spec.model.parameters says "
            "35");
}

TEST(ModelCheckTest, WithoutANumberThereIsNothingToSay) {
  Snapshot snapshot;
  snapshot.manifest = kManifest;
  EXPECT_EQ(After(snapshot, 0), nullptr);
  EXPECT_NE(After(snapshot, 36), nullptr);
  EXPECT_EQ(After(snapshot, 0), nullptr);
}

}  // namespace
}  // namespace dynatrain::control
