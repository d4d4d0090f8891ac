// The bytes that one process sends to another in a transfer:
//
//   header   magic, number of routes, bytes of all routes
//   routes   the elements of each region in row-major order, no gaps
//   trailer  one digest per route, taken over the source tensors
//   blobs    for each blob its length, then its bytes
//   end      magic
//
// All numbers are 64-bit little-endian. Both sides know the plan, so no route
// says what it is; header and end only catch a stream that is out of step.
#ifndef TRANSITION_ENGINE_STREAM_FORMAT_H_
#define TRANSITION_ENGINE_STREAM_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::transition {

inline constexpr uint64_t kStreamBegin = 0x31474542'4C525444;  // "DTRLBEG1"
inline constexpr uint64_t kStreamEnd = 0x31444E45'4C525444;    // "DTRLEND1"
inline constexpr size_t kWordBytes = 8;
inline constexpr size_t kHeaderBytes = 3 * kWordBytes;
// What a peer can make this process hold. Blobs are step counters and RNG
// states.
inline constexpr uint64_t kMaxBlobBytes = uint64_t{256} << 20;

inline void PutWord(uint64_t word, std::string& bytes) {
  for (size_t i = 0; i < kWordBytes; ++i) {
    bytes.push_back(static_cast<char>(word >> (8 * i)));
  }
}

// REQUIRES: bytes.size() >= kWordBytes.
inline uint64_t GetWord(absl::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < kWordBytes; ++i) {
    word |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  return word;
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_STREAM_FORMAT_H_
