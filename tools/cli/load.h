// Loading the layout that the command line names.
#ifndef TOOLS_CLI_LOAD_H_
#define TOOLS_CLI_LOAD_H_

#include <istream>
#include <string>

#include "absl/status/statusor.h"
#include "api/layout_file/layout_file.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::cli {

// Errors begin with the path: "job.yaml: line 4: world: 12 is ...".
absl::StatusOr<api::LoadedLayout> Load(const std::string& path,
                                       std::istream& in);
absl::StatusOr<vps::Listing> LoadListing(const std::string& path,
                                         std::istream& in);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_LOAD_H_
