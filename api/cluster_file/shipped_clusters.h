// The cluster files of examples/clusters, built in, so that a tool that is
// installed alone knows them by name.
#ifndef API_CLUSTER_FILE_SHIPPED_CLUSTERS_H_
#define API_CLUSTER_FILE_SHIPPED_CLUSTERS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain::api {

struct ShippedCluster {
  absl::string_view name;  // "a800x16"
  absl::string_view text;  // of the file
};

// By name.
absl::Span<const ShippedCluster> ShippedClusters();

// `name` with or without ".yaml"; nullptr if there is none.
const ShippedCluster* FindShippedCluster(absl::string_view name);

}  // namespace dynatrain::api

#endif  // API_CLUSTER_FILE_SHIPPED_CLUSTERS_H_
