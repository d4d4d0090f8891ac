// A 128-bit fingerprint of bytes: the same on every machine, in every build,
// for ever. Digests of canonical binary forms (manifests, plans, tensors) are
// fingerprints, so two processes compare 16 bytes instead of shipping a plan.
// It finds differences between honest parties; it is no defence against one
// that wants a collision (that is HMAC's work).
//
//   Fingerprinter f;
//   f.Append("plan").Append(int64_t{3}).Append(name);
//   Fingerprint digest = f.Finish();  digest.Hex() == "06d1…" (32 digits)
//
// Append(integer) and Append(string) are self-delimiting (8 bytes little
// endian; the length, then the bytes), so ("ab","c") differs from ("a","bc");
// AppendRaw adds bytes alone, in any cut: AppendRaw("ab") is AppendRaw("a")
// and AppendRaw("b").
#ifndef BASE_FINGERPRINT_H_
#define BASE_FINGERPRINT_H_

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dynatrain {

struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;

  // 32 lower-case hexadecimal digits, high first.
  std::string Hex() const;
  // The inverse of Hex. Returns kInvalidArgument for anything else.
  static absl::StatusOr<Fingerprint> FromHex(absl::string_view text);

  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Fingerprint& f) {
    return H::combine(std::move(h), f.high, f.low);
  }
  friend std::ostream& operator<<(std::ostream& out, const Fingerprint& f) {
    return out << f.Hex();
  }
};

// XXH3-128 of `bytes`.
Fingerprint FingerprintOf(absl::string_view bytes);
inline Fingerprint FingerprintOf(const void* bytes, size_t size_bytes) {
  return FingerprintOf(
      absl::string_view(static_cast<const char*>(bytes), size_bytes));
}

// Gathers the fingerprint of a sequence of values. FingerprintOf(x) is that of
// AppendRaw(x) alone.
class Fingerprinter {
 public:
  Fingerprinter();
  ~Fingerprinter();
  Fingerprinter(Fingerprinter&&) noexcept;
  Fingerprinter& operator=(Fingerprinter&&) noexcept;

  Fingerprinter& Append(std::integral auto value) {
    return AppendWord(static_cast<uint64_t>(value));
  }
  Fingerprinter& Append(absl::string_view text);
  Fingerprinter& Append(const Fingerprint& fingerprint);
  Fingerprinter& AppendRaw(absl::string_view bytes);

  // Of all that was appended so far; more may follow.
  Fingerprint Finish() const;

 private:
  struct State;
  Fingerprinter& AppendWord(uint64_t word);

  std::unique_ptr<State> state_;
};

}  // namespace dynatrain

#endif  // BASE_FINGERPRINT_H_
