#include "operator/reconcile/text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dynatrain::control {

std::string BytesText(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " bytes");
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    unit = larger;
    value /= 1024;
    if (value < 1024) break;
  }
  return absl::StrFormat("%.1f %s", value, unit);
}

std::string MebibytesText(int64_t bytes) {
  constexpr int64_t kMebibyte = 1 << 20;
  return absl::StrCat((bytes + kMebibyte - 1) / kMebibyte, " MiB");
}

std::string MillisecondsText(double ms) {
  return ms < 10000 ? absl::StrFormat("%.2f s", ms / 1000)
                    : absl::StrFormat("%.0f s", ms / 1000);
}

}  // namespace dynatrain::control
