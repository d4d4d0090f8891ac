#include "agent/utf8.h"

#include <cstddef>
#include <cstdint>

namespace dynatrain::agent {
namespace {

// Of the sequence that `lead` begins, a byte >= 0x80; 0 if it begins none.
size_t SequenceBytes(uint8_t lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte rules out overlong forms, surrogates and too high numbers.
bool SecondFits(uint8_t lead, uint8_t second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

}  // namespace

bool IsUtf8(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const uint8_t lead = text[at];
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const size_t size = SequenceBytes(lead);
    if (size == 0 || text.size() - at < size) return false;
    if (!SecondFits(lead, text[at + 1])) return false;
    for (size_t i = 1; i < size; ++i) {
      if ((static_cast<uint8_t>(text[at + i]) & 0xC0) != 0x80) return false;
    }
    at += size;
  }
  return true;
}

}  // namespace dynatrain::agent
