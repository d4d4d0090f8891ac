#include "api/cluster_file/shipped_clusters.h"

#include "absl/strings/strip.h"

namespace dynatrain::api {
namespace {

constexpr ShippedCluster kClusters[] = {
#include "api/cluster_file/shipped_clusters.inc"
};

}  // namespace

absl::Span<const ShippedCluster> ShippedClusters() { return kClusters; }

const ShippedCluster* FindShippedCluster(absl::string_view name) {
  name = absl::StripSuffix(name, ".yaml");
  for (const ShippedCluster& cluster : kClusters) {
    if (cluster.name == name) return &cluster;
  }
  return nullptr;
}

}  // namespace dynatrain::api
