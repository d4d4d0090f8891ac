// How a link begins: each side proves that it has the job's key, and both that
// they mean the same attempt of the same transition. Pure: bytes in, bytes out.
//
//   dialer                                    listener
//     Hello                         ─▶
//                    ◀─  Reply: Challenge {nonce, proof of the listener}
//     proof of the dialer           ─▶
//                    ◀─  Reply: welcome, or a refusal with its reason
//
// A proof is HMAC(key, role | Hello | the listener's nonce): it says who talks
// to whom about what, and can't be replayed.
#ifndef TRANSITION_TRANSPORT_HANDSHAKE_H_
#define TRANSITION_TRANSPORT_HANDSHAKE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/fingerprint.h"
#include "base/sha256.h"

namespace dynatrain::transition {

inline constexpr uint32_t kTransportProtocol = 1;
inline constexpr size_t kNonceBytes = 16;
using Nonce = std::array<uint8_t, kNonceBytes>;

// Fresh random bytes.
Nonce MakeNonce();

struct Hello {
  uint32_t protocol = kTransportProtocol;
  uint64_t dialer = 0;  // process ids
  uint64_t listener = 0;
  uint64_t generation = 0;
  // Of the transition's id and the plan's agreement digest: keeps an attempt
  // that was aborted apart from the next one to the same generation.
  Fingerprint attempt;
  uint64_t staging_bytes = 0;  // per direction, that the dialer can spare
  Nonce nonce = {};

  friend bool operator==(const Hello&, const Hello&) = default;
};

inline constexpr size_t kHelloBytes = 4 + 4 + 8 * 3 + 16 + 8 + kNonceBytes;

std::string EncodeHello(const Hello& hello);
// `bytes` has kHelloBytes. Returns kInvalidArgument if they don't begin like a
// hello, kFailedPrecondition if the protocol is another.
absl::StatusOr<Hello> DecodeHello(absl::string_view bytes);

enum class Role { kDialer, kListener };
Sha256Digest Proof(absl::string_view key, Role role, const Hello& hello,
                   const Nonce& listener_nonce);

// What a listener says: code 0 and a payload, or another and a reason.
inline constexpr size_t kReplyHeaderBytes = 8;
inline constexpr size_t kMaxReplyBytes = 1024;

struct ReplyHeader {
  absl::StatusCode code = absl::StatusCode::kOk;
  size_t payload_bytes = 0;
};

// A status with a message above the limit is cut.
std::string EncodeReply(const absl::Status& status,
                        absl::string_view payload = {});
// `bytes` has kReplyHeaderBytes. Returns kInvalidArgument if it claims more
// than kMaxReplyBytes.
absl::StatusOr<ReplyHeader> DecodeReplyHeader(absl::string_view bytes);

inline constexpr size_t kChallengeBytes = kNonceBytes + 32;

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_HANDSHAKE_H_
