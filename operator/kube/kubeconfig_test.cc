#include "operator/kube/kubeconfig.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::control {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] = R"(
apiVersion: v1
kind: Config
current-context: x
contexts: [{name: y, context: {cluster: c, user: u}},
           {name: x, context: {cluster: c, user: u, namespace: n}}]
clusters: [{name: c, cluster: {server: 'https://10.88.0.1:6443', certificate-authority: pki/ca.crt}}]
users: [{name: u, user: {client-certificate-data: Q0VSVA==, client-key: /abs/u.key}}]
)";

TEST(KubeconfigTest, TakesTheCurrentContext) {
  const auto sources = ParseKubeconfig(kGood, "/folder");
  ASSERT_TRUE(sources.ok()) << sources.status();
  EXPECT_EQ(sources->address, (ServerAddress{true, "10.88.0.1", 6443}));
  EXPECT_EQ(sources->ca.path, "/folder/pki/ca.crt");
  EXPECT_EQ(sources->certificate.text, "CERT");
  EXPECT_EQ(sources->key.path, "/abs/u.key");
  EXPECT_EQ(sources->default_namespace, "n");
}

TEST(KubeconfigTest, MalformedTextsAreRefused) {
  struct Case {
    std::string text;
    const char* why;
  };
  std::string exec = kGood;
  exec.replace(exec.find("client-key: /abs/u.key"), 22, "exec: {command: a}");
  std::string no_user = kGood;
  no_user.replace(no_user.find("users: [{name: u"), 16, "users: [{name: v");
  std::string base64 = kGood;
  base64.replace(base64.find("Q0VSVA=="), 8, "~~~~~~~~");
  for (const Case& c :
       std::initializer_list<Case>{{"", "not a YAML map"},
                                   {"[1, 2]", "not a YAML map"},
                                   {"{a: ", "not valid YAML"},
                                   {"a: b", "contexts has no \"\""},
                                   {"contexts: 7", "contexts has no"},
                                   {exec, "exec is not supported"},
                                   {no_user, "users has no \"u\""},
                                   {base64, "not base64"}}) {
    const absl::Status status = ParseKubeconfig(c.text, "/").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.why)) << c.text;
  }
}

TEST(KubeconfigTest, AMissingFileIsNamed) {
  EXPECT_THAT(std::string(LoadKubeconfig("/no/such").status().message()),
              HasSubstr("/no/such"));
}

}  // namespace
}  // namespace dynatrain::control
