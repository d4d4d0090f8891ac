// One message between a rank process and its agent: a map with a "kind".
//
// On the wire: 4 bytes little-endian length, then that many bytes of CBOR, one
// map whose "kind" is a non-empty string. docs/design/0001 lists the kinds
// and their fields. Binary fields (store values) are CBOR byte strings.
//
//   ASSIGN_OR_RETURN(Frame frame, Frame::Create({{"kind", "go"}, {"g", 3}}));
//   ASSIGN_OR_RETURN(std::string bytes, EncodeFrame(frame));
//   ASSIGN_OR_RETURN(uint64_t generation, frame.Uint("g"));
#ifndef API_RANK_FRAME_H_
#define API_RANK_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

// The protocol version that `hello` and `welcome` carry.
inline constexpr int kRankProtocol = 2;

// A bound on what one side can make the other hold; the largest frames are
// manifests and store values, a few MiB.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 20;
// Deepest nesting a frame may have; CBOR decoders recurse.
inline constexpr int kMaxFrameDepth = 32;
inline constexpr size_t kFrameHeaderBytes = 4;

class Frame {
 public:
  // Returns kInvalidArgument if `fields` isn't a map with a non-empty string
  // "kind".
  static absl::StatusOr<Frame> Create(nlohmann::json fields);

  // For fields that the program wrote itself; dies if Create would refuse.
  static Frame Of(nlohmann::json fields);

  const std::string& kind() const { return kind_; }
  const nlohmann::json& fields() const { return fields_; }
  bool Has(absl::string_view name) const;

  // Typed fields. Each returns kInvalidArgument, naming the frame's kind and
  // the field, if it is absent or of another type or range.
  absl::StatusOr<uint64_t> Uint(absl::string_view name) const;
  absl::StatusOr<int64_t> Int(absl::string_view name) const;
  absl::StatusOr<double> Number(absl::string_view name) const;
  absl::StatusOr<bool> Bool(absl::string_view name) const;
  absl::StatusOr<std::string> Text(absl::string_view name) const;
  // A byte string; absent or null reads as empty.
  absl::StatusOr<std::string> Bytes(absl::string_view name) const;

  friend bool operator==(const Frame& a, const Frame& b) {
    return a.fields_ == b.fields_;
  }
  // JSON, with binary fields shown by their size.
  std::string DebugString() const;

 private:
  explicit Frame(nlohmann::json fields);
  absl::Status Wrong(absl::string_view name, absl::string_view wanted) const;
  const nlohmann::json* Find(absl::string_view name) const;

  std::string kind_;
  nlohmann::json fields_;
};

// A byte-string field value.
nlohmann::json BinaryField(absl::string_view bytes);

// Header and body. Returns kInvalidArgument if the body passes kMaxFrameBytes.
absl::StatusOr<std::string> EncodeFrame(const Frame& frame);

// Decodes a body (without its header). Never throws or crashes, whatever the
// bytes: returns kInvalidArgument if they aren't exactly one valid frame.
absl::StatusOr<Frame> DecodeFrameBody(absl::string_view body);

}  // namespace dynatrain::api

#endif  // API_RANK_FRAME_H_
