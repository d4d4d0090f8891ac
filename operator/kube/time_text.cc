#include "operator/kube/time_text.h"

#include "absl/strings/str_cat.h"

namespace dynatrain::control {

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string MicroTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseTimeText(absl::string_view text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is not a time like 2026-03-01T12:00:00Z: ", error));
  }
  return time;
}

}  // namespace dynatrain::control
