#include "tools/cli/files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "api/listing/json_codec.h"

namespace dynatrain::cli {

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     std::istream& in) {
  // The largest text that any reader takes; one byte more is left for it to
  // refuse.
  constexpr std::streamsize kMost = api::kMaxListingBytes + 1;
  std::ifstream file;
  if (path != "-") {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder"));
    }
    file.open(path, std::ios::binary);
    if (!file.is_open()) return absl::ErrnoToStatus(errno, path);
  }
  std::istream& source = path == "-" ? in : file;
  std::string text;
  char part[1 << 16];
  while (text.size() < kMost) {
    source.read(part, sizeof part);
    if (source.gcount() == 0) break;
    text.append(part, source.gcount());
  }
  if (source.bad()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": can't be read"));
  }
  return text;
}

std::string Beside(const std::string& file, absl::string_view path) {
  const std::filesystem::path named((std::string(path)));
  if (named.is_absolute() || file == "-") return named.string();
  return (std::filesystem::path(file).parent_path() / named).string();
}

}  // namespace dynatrain::cli
