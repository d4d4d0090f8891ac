// JSON as the API server speaks it. Only operator/ sees this type; values that
// leave the operator are our own.
#ifndef OPERATOR_KUBE_JSON_H_
#define OPERATOR_KUBE_JSON_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace dynatrain::control {

using Json = nlohmann::json;

// The value at `path` ("/metadata/name"), or a null one if it isn't there.
// Never throws: objects come from outside.
const Json& At(const Json& object, absl::string_view path);

// The text or number at `path`; the default if it is absent or of another type.
std::string TextAt(const Json& object, absl::string_view path,
                   absl::string_view otherwise = "");
int64_t NumberAt(const Json& object, absl::string_view path,
                 int64_t otherwise = 0);

// metadata.name, .namespace, .uid, .resourceVersion.
std::string NameOf(const Json& object);
std::string NamespaceOf(const Json& object);
std::string UidOf(const Json& object);
std::string ResourceVersionOf(const Json& object);

// The merge patch (RFC 7386) that turns `from` into `to`: {} if they are equal.
// REQUIRES: neither holds null as a member (a merge patch can't say it).
Json MergeDiff(const Json& from, const Json& to);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_JSON_H_
