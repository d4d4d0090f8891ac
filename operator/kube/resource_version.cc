#include "operator/kube/resource_version.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace dynatrain::control {

bool IsResourceVersion(absl::string_view text) {
  return !text.empty() && text[0] != '0' &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isdigit(c); });
}

bool IsNewer(absl::string_view a, absl::string_view b) {
  if (!IsResourceVersion(a)) return false;
  if (!IsResourceVersion(b)) return true;
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

}  // namespace dynatrain::control
