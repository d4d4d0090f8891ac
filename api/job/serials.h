// Ordered lists of serials as ranges, the way status shows members: "0-2,5".
//
// The order is kept (it is the rank order), so [5,0,1] is "5,0-1".
#ifndef API_JOB_SERIALS_H_
#define API_JOB_SERIALS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain::api {

// "" if there are none.
std::string FormatSerials(const std::vector<uint32_t>& serials);

// The inverse. Returns kInvalidArgument if `text` isn't of this form, names a
// serial twice or names more than 65536.
absl::StatusOr<std::vector<uint32_t>> ParseSerials(absl::string_view text);

}  // namespace dynatrain::api

#endif  // API_JOB_SERIALS_H_
