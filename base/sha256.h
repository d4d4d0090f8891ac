// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for proofs that the other
// side has the job's key. Here because the runtime library may need nothing but
// libc and libstdc++, which rules OpenSSL out.
#ifndef BASE_SHA256_H_
#define BASE_SHA256_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace dynatrain {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(absl::string_view bytes);
Sha256Digest HmacSha256(absl::string_view key, absl::string_view message);

// True if equal; takes the same time wherever they differ.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

}  // namespace dynatrain

#endif  // BASE_SHA256_H_
