// Numbers as people read them in status.
#ifndef OPERATOR_RECONCILE_TEXT_H_
#define OPERATOR_RECONCILE_TEXT_H_

#include <cstdint>
#include <string>

namespace dynatrain::control {

// "24.1 MiB", "512 bytes".
std::string BytesText(int64_t bytes);

// "2150 MiB", rounded up: for comparing with limits, which people write so.
std::string MebibytesText(int64_t bytes);

// "0.14 s", "75 s".
std::string MillisecondsText(double ms);

}  // namespace dynatrain::control

#endif  // OPERATOR_RECONCILE_TEXT_H_
