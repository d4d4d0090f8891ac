#include "api/job/job.h"

#include "api/json/reader.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

absl::StatusOr<JobMetadata> ReadMetadata(ObjectReader metadata) {
  JobMetadata out;
  out.namespace_name = metadata.Text("namespace");
  out.name = metadata.Text("name");
  out.uid = metadata.Text("uid");
  out.generation = metadata.Int("generation", 0, INT64_MAX, 0);
  out.resource_version = metadata.Text("resourceVersion");
  if (metadata.Has("deletionTimestamp")) {
    out.deletion_time = metadata.Time("deletionTimestamp");
  }
  if (out.name.empty()) metadata.Refuse("name", "is not a name");
  if (out.uid.empty()) metadata.Refuse("uid", "is not an id");
  RETURN_IF_ERROR(metadata.status());
  return out;
}

}  // namespace

absl::StatusOr<Job> ParseJob(absl::string_view object) {
  ASSIGN_OR_RETURN(const nlohmann::json value, ParseJson(object),
                   "ElasticTrainingJob");
  ObjectReader root(value, "");
  RETURN_IF_ERROR(root.status());
  Job job;
  ASSIGN_OR_RETURN(job.metadata, ReadMetadata(root.Object("metadata")));
  ASSIGN_OR_RETURN(job.status, ParseJobStatus(DumpJson(root.At("status"))));
  job.spec = ParseJobSpec(DumpJson(root.At("spec")));
  return job;
}

}  // namespace dynatrain::api
