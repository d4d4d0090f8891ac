// FlatBuffer: where Megatron's _ParamAndGradBuffer puts each parameter in the
// one run of memory that it keeps for many, how it cuts that run in buckets,
// and which piece of a bucket each data-parallel rank owns (ZeRO-1).
//
// The rule, of Megatron-Core 0.16.1 (core/distributed/param_and_grad_buffer.py,
// _ParamAndGradBuffer.__init__). Parameters are laid in *reverse* order of
// declaration. With the distributed optimizer a parameter starts at a multiple
// of 64 elements and a bucket ends at one of lcm(pieces, 128) (and of 2^16 for
// busbw); without it nothing is padded. A bucket is closed after the parameter
// with which it has `bucket_size` elements or more, its own padding between
// parameters counted; with the distributed optimizer a shared embedding has a
// bucket of its own.
//
//   ASSIGN_OR_RETURN(FlatBuffer buffer,
//                    FlatBuffer::Create({{.elements = 3072}, {.elements = 24}},
//                                       {.pieces = 3}));
//   buffer.slot(1) is [0, 24), buffer.slot(0) is [64, 3136), one bucket [0,
//   3456), of which piece 1 is [1152, 2304).
#ifndef VPS_LAYOUT_MEGATRON_FLAT_BUFFER_H_
#define VPS_LAYOUT_MEGATRON_FLAT_BUFFER_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dynatrain::vps::megatron {

struct FlatParameter {
  int64_t elements = 0;  // of the rank's local tensor, at least 1
  bool shared_embedding = false;
};

struct FlatBufferOptions {
  // Ranks that share a bucket: the dp-cp list, or the expert-dp list, of one
  // instance of the optimizer. At least 1.
  int64_t pieces = 1;
  // Elements at which a bucket is closed; nullopt: one bucket. At least 1.
  std::optional<int64_t> bucket_size;
  bool distributed_optimizer = true;
  bool pad_for_high_bandwidth = false;  // pad_buckets_for_high_nccl_busbw
};

// Elements [begin, end) of the buffer.
struct FlatSlot {
  int64_t begin = 0;
  int64_t end = 0;
  int bucket = 0;
  friend bool operator==(const FlatSlot&, const FlatSlot&) = default;
};

struct FlatBucket {
  int64_t begin = 0;
  int64_t end = 0;       // with padding
  int64_t unpadded = 0;  // elements; Megatron's numel_unpadded
  friend bool operator==(const FlatBucket&, const FlatBucket&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const FlatSlot& slot) {
  return out << "[" << slot.begin << ", " << slot.end << ") of bucket "
             << slot.bucket;
}

inline std::ostream& operator<<(std::ostream& out, const FlatBucket& bucket) {
  return out << "[" << bucket.begin << ", " << bucket.end << "), "
             << bucket.unpadded << " unpadded";
}

class FlatBuffer {
 public:
  // `parameters` in order of declaration, as named_parameters() lists them.
  // None at all is a buffer of no elements. Returns kInvalidArgument naming the
  // parameter or the option if one is below its bound, or if the buffer does
  // not fit 63 bits.
  static absl::StatusOr<FlatBuffer> Create(
      absl::Span<const FlatParameter> parameters,
      const FlatBufferOptions& options);

  // By the parameter's index in order of declaration.
  const FlatSlot& slot(int parameter) const { return slots_[parameter]; }
  absl::Span<const FlatSlot> slots() const { return slots_; }
  absl::Span<const FlatBucket> buckets() const { return buckets_; }
  // All of the buffer, with padding.
  int64_t elements() const {
    return buckets_.empty() ? 0 : buckets_.back().end;
  }

  // Elements of `bucket` that each of the pieces owns: piece d of the bucket
  // is [begin + d * ShardElements, + ShardElements).
  // REQUIRES: the buffer was made with distributed_optimizer.
  int64_t ShardElements(int bucket) const {
    return (buckets_[bucket].end - buckets_[bucket].begin) / pieces_;
  }

  friend bool operator==(const FlatBuffer&, const FlatBuffer&) = default;

 private:
  FlatBuffer() = default;

  std::vector<FlatSlot> slots_;
  std::vector<FlatBucket> buckets_;
  int64_t pieces_ = 1;
};

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_FLAT_BUFFER_H_
