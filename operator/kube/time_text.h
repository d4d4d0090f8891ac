// Kubernetes' two texts of a time, both RFC 3339 in UTC.
#ifndef OPERATOR_KUBE_TIME_TEXT_H_
#define OPERATOR_KUBE_TIME_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace dynatrain::control {

// "2026-03-01T12:00:00Z": metav1.Time, whole seconds.
std::string TimeText(absl::Time time);
// "2026-03-01T12:00:00.000000Z": metav1.MicroTime, always six digits.
std::string MicroTimeText(absl::Time time);
// Reads both. kInvalidArgument with the text if it is neither.
absl::StatusOr<absl::Time> ParseTimeText(absl::string_view text);

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_TIME_TEXT_H_
