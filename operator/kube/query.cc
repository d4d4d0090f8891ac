#include "operator/kube/query.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dynatrain::control {

std::string PercentEncode(absl::string_view text) {
  constexpr absl::string_view kPlain = "-._~";
  std::string encoded;
  for (const unsigned char c : text) {
    if (absl::ascii_isalnum(c) || kPlain.find(c) != absl::string_view::npos) {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", c);
    }
  }
  return encoded;
}

void Query::Add(absl::string_view key, absl::string_view value) {
  absl::StrAppend(&text_, text_.empty() ? "?" : "&", key, "=",
                  PercentEncode(value));
}

std::string Query::After(absl::string_view path) const {
  return absl::StrCat(path, text_);
}

}  // namespace dynatrain::control
