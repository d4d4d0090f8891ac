// Order of resourceVersions (KEP-5504): opaque decimal text, comparable within
// one kind of object. Kept as text: they may outgrow 64 bits.
#ifndef OPERATOR_KUBE_RESOURCE_VERSION_H_
#define OPERATOR_KUBE_RESOURCE_VERSION_H_

#include "absl/strings/string_view.h"

namespace dynatrain::control {

// Decimal without leading zeros, not "0".
bool IsResourceVersion(absl::string_view text);

// Whether `a` is a later version than `b`. A text that is no version (such as
// "") is earlier than all that are.
bool IsNewer(absl::string_view a, absl::string_view b);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_RESOURCE_VERSION_H_
