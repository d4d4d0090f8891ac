#include "operator/kube/query.h"

#include "gtest/gtest.h"
#include "operator/kube/resource.h"

namespace dynatrain::control {
namespace {

TEST(QueryTest, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(PercentEncode("a/b=c d&\xff%"), "a%2Fb%3Dc%20d%26%FF%25");
}

TEST(QueryTest, JoinsWhatIsSet) {
  Query query;
  EXPECT_EQ(query.After("/p"), "/p");
  query.AddIfSet("none", "");
  query.Add("a", "1");
  query.Add("b", "x,y");
  EXPECT_EQ(query.After("/p"), "/p?a=1&b=x%2Cy");
}

TEST(ResourceTest, PathsOfCoreAndGroupKinds) {
  EXPECT_EQ(CollectionPath(Pods(), "n"), "/api/v1/namespaces/n/pods");
  EXPECT_EQ(CollectionPath(Pods(), ""), "/api/v1/pods");
  EXPECT_EQ(ObjectPath(TrainingJobs(), "n", "gpt"),
            "/apis/dynatrain.io/v1alpha1/namespaces/n/elastictrainingjobs/gpt");
  const Resource nodes = {"", "v1", "nodes", "Node", /*namespaced=*/false};
  EXPECT_EQ(ObjectPath(nodes, "n", "a"), "/api/v1/nodes/a");
}

}  // namespace
}  // namespace dynatrain::control
