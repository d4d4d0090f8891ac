#include "operator/kube/kubeconfig.h"

#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace dynatrain::control {
namespace {

// Every function below may throw YAML::Exception; ParseKubeconfig catches.

std::string Text(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.as<std::string>() : "";
}

// The entry of list `list` whose name is `name`, its member `member`.
absl::StatusOr<YAML::Node> Named(const YAML::Node& root, const char* list,
                                 const char* member, const std::string& name) {
  for (const YAML::Node& entry : root[list]) {
    if (Text(entry, "name") == name && entry[member]) return entry[member];
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kubeconfig: ", list, " has no \"", name, "\""));
}

std::string Resolve(const std::string& path, const std::string& folder) {
  if (path.empty() || path[0] == '/') return path;
  return absl::StrCat(folder, "/", path);
}

// `key` holds a path, `key`-data the content in base64.
absl::StatusOr<Source> FileOrData(const YAML::Node& node, const char* key,
                                  const std::string& folder) {
  Source source;
  source.path = Resolve(Text(node, key), folder);
  const std::string data = Text(node, absl::StrCat(key, "-data").c_str());
  if (!data.empty() && !absl::Base64Unescape(data, &source.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kubeconfig: ", key, "-data is not base64"));
  }
  return source;
}

absl::Status RefuseUnsupported(const YAML::Node& node) {
  for (const char* key : {"exec", "auth-provider", "username", "proxy-url",
                          "tls-server-name", "as"}) {
    if (node[key]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "kubeconfig: ", key,
          " is not supported; use a token or a client certificate"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CredentialSources> FromYaml(const YAML::Node& root,
                                           const std::string& folder) {
  ASSIGN_OR_RETURN(
      const YAML::Node context,
      Named(root, "contexts", "context", Text(root, "current-context")));
  ASSIGN_OR_RETURN(const YAML::Node cluster, Named(root, "clusters", "cluster",
                                                   Text(context, "cluster")));
  ASSIGN_OR_RETURN(const YAML::Node user,
                   Named(root, "users", "user", Text(context, "user")));
  RETURN_IF_ERROR(RefuseUnsupported(cluster));
  RETURN_IF_ERROR(RefuseUnsupported(user));
  CredentialSources sources;
  ASSIGN_OR_RETURN(sources.address,
                   ServerAddress::Parse(Text(cluster, "server")));
  ASSIGN_OR_RETURN(sources.ca,
                   FileOrData(cluster, "certificate-authority", folder));
  sources.insecure = Text(cluster, "insecure-skip-tls-verify") == "true";
  ASSIGN_OR_RETURN(sources.certificate,
                   FileOrData(user, "client-certificate", folder));
  ASSIGN_OR_RETURN(sources.key, FileOrData(user, "client-key", folder));
  sources.token = {.text = Text(user, "token"),
                   .path = Resolve(Text(user, "tokenFile"), folder)};
  const std::string ns = Text(context, "namespace");
  if (!ns.empty()) sources.default_namespace = ns;
  return sources;
}

}  // namespace

absl::StatusOr<CredentialSources> ParseKubeconfig(const std::string& text,
                                                  const std::string& folder) {
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      return absl::InvalidArgumentError("kubeconfig: not a YAML map");
    }
    return FromYaml(root, folder);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("kubeconfig: not valid YAML: ", error.what()));
  }
}

absl::StatusOr<CredentialSources> LoadKubeconfig(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text,
                   (Source{.text = "", .path = path}.Read()), "kubeconfig");
  const std::filesystem::path folder =
      std::filesystem::absolute(path).parent_path();
  ASSIGN_OR_RETURN(CredentialSources sources,
                   ParseKubeconfig(text, folder.string()), path);
  return sources;
}

}  // namespace dynatrain::control
