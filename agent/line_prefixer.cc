#include "agent/line_prefixer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynatrain::agent {

std::string LinePrefixer::Feed(absl::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const bool whole = newline != absl::string_view::npos;
    const size_t room = kMaxLineBytes - line_.size();
    const size_t taken = std::min(whole ? newline : bytes.size(), room);
    absl::StrAppend(&line_, bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (whole && taken == newline) {
      bytes.remove_prefix(1);
    } else if (line_.size() < kMaxLineBytes) {
      return lines;
    }
    absl::StrAppend(&lines, prefix_, line_, "\n");
    line_.clear();
  }
  return lines;
}

std::string LinePrefixer::Finish() {
  if (line_.empty()) return "";
  std::string last = absl::StrCat(prefix_, line_, "\n");
  line_.clear();
  return last;
}

}  // namespace dynatrain::agent
