// The query part of a request's target.
#ifndef OPERATOR_KUBE_QUERY_H_
#define OPERATOR_KUBE_QUERY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::control {

// Percent-encodes all but RFC 3986's unreserved characters.
std::string PercentEncode(absl::string_view text);

class Query {
 public:
  void Add(absl::string_view key, absl::string_view value);
  void AddIfSet(absl::string_view key, absl::string_view value) {
    if (!value.empty()) Add(key, value);
  }
  // "path?key=value&…", or "path" if nothing was added.
  std::string After(absl::string_view path) const;

 private:
  std::string text_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_QUERY_H_
