#include "tools/cli/job_options.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_file/shipped_clusters.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "tools/cli/files.h"

namespace dynatrain::cli {

absl::Status CheckStandardInput(const CommandLine& line,
                                absl::Span<const char* const> options) {
  const char* first = nullptr;
  for (const char* option : options) {
    if (line.Get(option) != "-") continue;
    if (first != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", first, " and --", option,
                       " are both standard input, which can be read once; "
                       "give one of them as a file"));
    }
    first = option;
  }
  return absl::OkStatus();
}

absl::StatusOr<api::ClusterFile> ReadCluster(const std::string& name,
                                             std::istream& in) {
  const api::ShippedCluster* shipped = api::FindShippedCluster(name);
  absl::StatusOr<std::string> text = ReadText(name, in);
  // A file goes before what is built in.
  if (!text.ok() && shipped != nullptr) text = std::string(shipped->text);
  if (!text.ok()) {
    std::vector<std::string> names;
    for (const api::ShippedCluster& it : api::ShippedClusters()) {
      names.emplace_back(it.name);
    }
    const std::string near = DidYouMean(name, names);
    return absl::InvalidArgumentError(absl::StrCat(
        "--cluster: ", text.status().message(), ", and no name of one",
        near.empty() ? absl::StrCat("; there are ", absl::StrJoin(names, ", "))
                     : near));
  }
  absl::StatusOr<api::ClusterFile> cluster = api::LoadCluster(*text);
  RETURN_IF_ERROR(cluster.status(), name);
  return cluster;
}

nlohmann::json ModelField(const std::string& model) {
  if (absl::StrContains(model, '/') || absl::EndsWith(model, ".json")) {
    return {{"huggingface", model}};
  }
  return model;
}

}  // namespace dynatrain::cli
