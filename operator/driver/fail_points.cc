#include "operator/driver/fail_points.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {
namespace {

// Whether this call made the file.
bool MakeFile(const std::string& path) {
  const int fd =
      open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  close(fd);
  return true;
}

}  // namespace

absl::StatusOr<FailPoints> FailPoints::Create(
    const std::vector<std::string>& specs) {
  FailPoints points;
  for (const std::string& spec : specs) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(spec, absl::MaxSplits('=', 1));
    const std::pair<std::string, std::string> action =
        absl::StrSplit(parts.second, absl::MaxSplits('@', 1));
    const bool kill = action.first == "kill", stop = action.first == "stop";
    if (parts.first.empty() || (!kill && !stop)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "fail point \"", spec,
          "\" should look like before-write-Committed=kill or =stop, with "
          "@FILE after it to act only once"));
    }
    points.points_[parts.first] = {.signal = kill ? SIGKILL : SIGSTOP,
                                   .once_file = action.second};
  }
  return points;
}

void FailPoints::Hit(const std::string& name) const {
  const auto it = points_.find(name);
  if (it == points_.end()) return;
  if (!it->second.once_file.empty() && !MakeFile(it->second.once_file)) return;
  spdlog::warn("msg=\"fail point\" name={} signal={}", name, it->second.signal);
  spdlog::default_logger()->flush();
  kill(getpid(), it->second.signal);
  // The first process of a container can't kill itself; this is as abrupt.
  if (it->second.signal == SIGKILL) _exit(128 + SIGKILL);
}

}  // namespace dynatrain::control
