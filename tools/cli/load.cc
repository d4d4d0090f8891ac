#include "tools/cli/load.h"

#include "api/listing/json_codec.h"
#include "base/status_macros.h"
#include "tools/cli/files.h"

namespace dynatrain::cli {
namespace {

std::string Shown(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

}  // namespace

absl::StatusOr<api::LoadedLayout> Load(const std::string& path,
                                       std::istream& in) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(path, in));
  absl::StatusOr<api::LoadedLayout> loaded =
      api::LoadLayout(text, [&](absl::string_view named) {
        return ReadText(Beside(path, named), in);
      });
  RETURN_IF_ERROR(loaded.status(), Shown(path));
  return loaded;
}

absl::StatusOr<vps::Listing> LoadListing(const std::string& path,
                                         std::istream& in) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(path, in));
  absl::StatusOr<vps::Listing> listing = api::DecodeListing(text);
  RETURN_IF_ERROR(listing.status(), Shown(path));
  return listing;
}

}  // namespace dynatrain::cli
