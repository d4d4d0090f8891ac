// Reading what the command line names.
#ifndef TOOLS_CLI_FILES_H_
#define TOOLS_CLI_FILES_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::cli {

// All of the file at `path`; "-" is `in`. Returns kNotFound, kPermissionDenied
// or kInvalidArgument (a folder) with the path and the reason. What is larger
// than any reader takes is cut off one byte later, so that each refuses it.
absl::StatusOr<std::string> ReadText(const std::string& path, std::istream& in);

// `path` as seen from the folder of `file`: what a layout file names lies
// beside it.
std::string Beside(const std::string& file, absl::string_view path);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_FILES_H_
