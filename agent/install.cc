#include "agent/install.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(absl::string_view what, const fs::path& path,
                    const std::error_code& error) {
  return absl::InternalError(
      absl::StrCat(what, " ", path.string(), ": ", error.message()));
}

absl::Status CopyFile(const fs::path& from, const fs::path& to) {
  const fs::path part = to.string() + ".part";
  std::error_code error;
  fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  if (error) return Failed("copying", from, error);
  fs::rename(part, to, error);
  if (error) return Failed("renaming to", to, error);
  return absl::OkStatus();
}

absl::Status CopyTree(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return Failed("making", to, error);
  fs::directory_iterator entries(from, error);
  if (error) return Failed("reading", from, error);
  for (const fs::directory_entry& entry : entries) {
    const fs::path name = entry.path().filename();
    if (name == "__pycache__") continue;
    if (entry.is_directory()) {
      RETURN_IF_ERROR(CopyTree(entry.path(), to / name));
    } else {
      RETURN_IF_ERROR(CopyFile(entry.path(), to / name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Install(const std::string& self, const std::string& folder) {
  const fs::path home = fs::path(self).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Failed("making", folder, error);
  RETURN_IF_ERROR(CopyFile(self, fs::path(folder) / "dynatrain-agent"));
  RETURN_IF_ERROR(CopyTree(home / "lib", fs::path(folder) / "lib"));
  return CopyTree(home / "python", fs::path(folder) / "python");
}

}  // namespace dynatrain::agent
