// An error as the value of a key=value log: one line, to be put in quotes.
#ifndef OPERATOR_KUBE_LOG_TEXT_H_
#define OPERATOR_KUBE_LOG_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::control {

// "NOT_FOUND: pods \"gpt-0\" not found" with quotes and line ends escaped, and
// without payloads.
inline std::string LogText(const absl::Status& status) {
  return absl::Utf8SafeCEscape(absl::StrCat(
      absl::StatusCodeToString(status.code()), ": ", status.message()));
}

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_LOG_TEXT_H_
