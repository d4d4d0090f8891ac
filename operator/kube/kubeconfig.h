// A kubeconfig file's current context: for development and for tests.
#ifndef OPERATOR_KUBE_KUBECONFIG_H_
#define OPERATOR_KUBE_KUBECONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/kube/credentials.h"

namespace dynatrain::control {

// Reads certificates, keys and tokens, given in the file or as paths (relative
// ones from the file's folder). kInvalidArgument names what is missing or not
// supported (exec plugins, proxies, user names).
absl::StatusOr<CredentialSources> LoadKubeconfig(const std::string& path);

// The same of text; `folder` is where relative paths begin.
absl::StatusOr<CredentialSources> ParseKubeconfig(const std::string& text,
                                                  const std::string& folder);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_KUBECONFIG_H_
