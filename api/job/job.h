// An ElasticTrainingJob as the API server stores it, read into plain values.
//
//   ASSIGN_OR_RETURN(Job job, ParseJob(object_text));
//   if (!job.spec.ok()) … tell the user: the message names field and value
//   const std::string status = ToJson(new_status);
#ifndef API_JOB_JOB_H_
#define API_JOB_JOB_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/job/spec.h"
#include "api/job/status.h"

namespace dynatrain::api {

inline constexpr absl::string_view kJobGroup = "dynatrain.io";
inline constexpr absl::string_view kJobVersion = "v1alpha1";
inline constexpr absl::string_view kJobPlural = "elastictrainingjobs";
inline constexpr absl::string_view kJobKind = "ElasticTrainingJob";

struct JobMetadata {
  std::string namespace_name;
  std::string name;
  std::string uid;
  int64_t generation = 0;  // of the spec
  std::string resource_version;
  std::optional<absl::Time> deletion_time;

  bool operator==(const JobMetadata&) const = default;
};

struct Job {
  JobMetadata metadata;
  // The error names the field, its value and what would be right. A job with a
  // bad spec is still observed: its status can say why nothing happens.
  absl::StatusOr<JobSpec> spec = absl::UnknownError("not read yet");
  JobStatus status;
};

// Reads the whole custom resource. Unknown fields are ignored. Returns
// kInvalidArgument if `object` isn't JSON, or metadata or status can't be read;
// an error in the spec goes to Job::spec.
absl::StatusOr<Job> ParseJob(absl::string_view object);

absl::StatusOr<JobSpec> ParseJobSpec(absl::string_view json);
absl::StatusOr<JobStatus> ParseJobStatus(absl::string_view json);

std::string ToJson(const JobStatus& status);

}  // namespace dynatrain::api

#endif  // API_JOB_JOB_H_
