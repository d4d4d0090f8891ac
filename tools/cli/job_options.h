// What several commands name in the same words: a cluster, a model.
#ifndef TOOLS_CLI_JOB_OPTIONS_H_
#define TOOLS_CLI_JOB_OPTIONS_H_

#include <istream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/cluster_file/cluster_file.h"
#include "nlohmann/json.hpp"
#include "tools/cli/command_line.h"

namespace dynatrain::cli {

// Returns kInvalidArgument naming them if two of the options, which name files,
// are "-": standard input can be read once.
absl::Status CheckStandardInput(const CommandLine& line,
                                absl::Span<const char* const> options);

// --cluster: a file, or one of examples/clusters by name. Errors begin with the
// option or the path.
absl::StatusOr<api::ClusterFile> ReadCluster(const std::string& name,
                                             std::istream& in);

// --model as the field of a layout file: a preset's name, or the path of a
// Hugging Face config.json.
nlohmann::json ModelField(const std::string& model);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_JOB_OPTIONS_H_
