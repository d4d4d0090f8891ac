#include "base/fingerprint.h"

// Header-only: the runtime library may need no libxxhash.so at run time.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace dynatrain {
namespace {

std::array<char, 8> LittleEndian(uint64_t word) {
  std::array<char, 8> bytes;
  for (char& byte : bytes) {
    byte = static_cast<char>(word & 0xff);
    word >>= 8;
  }
  return bytes;
}

Fingerprint FromHash(const XXH128_hash_t& hash) {
  return {.high = hash.high64, .low = hash.low64};
}

bool IsHexDigit(char c) {
  return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
}

}  // namespace

std::string Fingerprint::Hex() const {
  return absl::StrCat(absl::Hex(high, absl::kZeroPad16),
                      absl::Hex(low, absl::kZeroPad16));
}

absl::StatusOr<Fingerprint> Fingerprint::FromHex(absl::string_view text) {
  bool valid = text.size() == 32;
  for (char c : text) valid = valid && IsHexDigit(c);
  if (!valid) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CEscape(text.substr(0, 64)),
                     "\" is no digest: 32 digits of 0-9 a-f are"));
  }
  const auto word = [&](size_t first) {
    uint64_t value = 0;
    for (char c : text.substr(first, 16)) {
      value = value << 4 | (absl::ascii_isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return value;
  };
  return Fingerprint{.high = word(0), .low = word(16)};
}

Fingerprint FingerprintOf(absl::string_view bytes) {
  return FromHash(XXH3_128bits(bytes.data(), bytes.size()));
}

struct Fingerprinter::State {
  XXH3_state_t xxh3;
};

Fingerprinter::Fingerprinter() : state_(new State) {
  XXH3_128bits_reset(&state_->xxh3);
}
Fingerprinter::~Fingerprinter() = default;
Fingerprinter::Fingerprinter(Fingerprinter&&) noexcept = default;
Fingerprinter& Fingerprinter::operator=(Fingerprinter&&) noexcept = default;

Fingerprinter& Fingerprinter::AppendRaw(absl::string_view bytes) {
  XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size());
  return *this;
}

Fingerprinter& Fingerprinter::AppendWord(uint64_t word) {
  const std::array<char, 8> bytes = LittleEndian(word);
  return AppendRaw(absl::string_view(bytes.data(), bytes.size()));
}

Fingerprinter& Fingerprinter::Append(absl::string_view text) {
  return AppendWord(text.size()).AppendRaw(text);
}

Fingerprinter& Fingerprinter::Append(const Fingerprint& fingerprint) {
  return AppendWord(fingerprint.high).AppendWord(fingerprint.low);
}

Fingerprint Fingerprinter::Finish() const {
  return FromHash(XXH3_128bits_digest(&state_->xxh3));
}

}  // namespace dynatrain
