#include "transition/transport/handshake.h"

#include <sys/random.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

constexpr uint32_t kMagic = 0x4C525444;  // "DTRL"

template <typename Integer>
void Put(Integer value, std::string& bytes) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
}

template <typename Integer>
Integer Take(absl::string_view& bytes) {
  Integer value = 0;
  for (size_t i = 0; i < sizeof(value); ++i) {
    value |= static_cast<Integer>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(sizeof(value));
  return value;
}

}  // namespace

Nonce MakeNonce() {
  Nonce nonce;
  if (getrandom(nonce.data(), nonce.size(), 0) !=
      static_cast<ssize_t>(nonce.size())) {
    perror("dynatrain: getrandom");
    abort();
  }
  return nonce;
}

std::string EncodeHello(const Hello& hello) {
  std::string bytes;
  Put(kMagic, bytes);
  Put(hello.protocol, bytes);
  Put(hello.dialer, bytes);
  Put(hello.listener, bytes);
  Put(hello.generation, bytes);
  Put(hello.attempt.high, bytes);
  Put(hello.attempt.low, bytes);
  Put(hello.staging_bytes, bytes);
  bytes.append(hello.nonce.begin(), hello.nonce.end());
  return bytes;
}

absl::StatusOr<Hello> DecodeHello(absl::string_view bytes) {
  if (bytes.size() != kHelloBytes || Take<uint32_t>(bytes) != kMagic) {
    return absl::InvalidArgumentError("this is no hello of a DynaTrain link");
  }
  Hello hello;
  hello.protocol = Take<uint32_t>(bytes);
  if (hello.protocol != kTransportProtocol) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the dialer speaks link protocol ", hello.protocol, ", this process ",
        kTransportProtocol, ": all pods of a job need the same agent image"));
  }
  hello.dialer = Take<uint64_t>(bytes);
  hello.listener = Take<uint64_t>(bytes);
  hello.generation = Take<uint64_t>(bytes);
  hello.attempt.high = Take<uint64_t>(bytes);
  hello.attempt.low = Take<uint64_t>(bytes);
  hello.staging_bytes = Take<uint64_t>(bytes);
  memcpy(hello.nonce.data(), bytes.data(), kNonceBytes);
  return hello;
}

Sha256Digest Proof(absl::string_view key, Role role, const Hello& hello,
                   const Nonce& listener_nonce) {
  std::string message =
      role == Role::kDialer ? "dynatrain dialer" : "dynatrain listener";
  message += EncodeHello(hello);
  message.append(listener_nonce.begin(), listener_nonce.end());
  return HmacSha256(key, message);
}

std::string EncodeReply(const absl::Status& status, absl::string_view payload) {
  const absl::string_view body =
      status.ok() ? payload : status.message().substr(0, kMaxReplyBytes);
  std::string bytes;
  Put(static_cast<uint32_t>(status.raw_code()), bytes);
  Put(static_cast<uint32_t>(body.size()), bytes);
  bytes.append(body.data(), body.size());
  return bytes;
}

absl::StatusOr<ReplyHeader> DecodeReplyHeader(absl::string_view bytes) {
  ReplyHeader header;
  header.code = static_cast<absl::StatusCode>(Take<uint32_t>(bytes));
  header.payload_bytes = Take<uint32_t>(bytes);
  if (header.payload_bytes > kMaxReplyBytes) {
    return absl::InvalidArgumentError("this is no reply of a DynaTrain link");
  }
  return header;
}

}  // namespace dynatrain::transition
