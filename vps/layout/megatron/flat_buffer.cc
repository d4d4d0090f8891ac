#include "vps/layout/megatron/flat_buffer.h"

#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps::megatron {
namespace {

// Parameters start at 128-byte aligned addresses: values have 2 bytes or more.
constexpr int64_t kParameterAlignment = 64;
// Buckets start at 256-byte aligned addresses, which cuBLAS wants.
constexpr int64_t kBucketAlignment = 128;
// NCCL's rings are fast if the message is divisible by a large power of two.
constexpr int64_t kHighBandwidthAlignment = int64_t{1} << 16;
// Far above any buffer; what is below can be padded without overflow.
constexpr int64_t kMaxElements = int64_t{1} << 60;
constexpr int64_t kMaxPieces = int64_t{1} << 20;

int64_t RoundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

absl::Status Validate(absl::Span<const FlatParameter> parameters,
                      const FlatBufferOptions& options) {
  if (options.pieces < 1 || options.pieces > kMaxPieces) {
    return absl::InvalidArgumentError(
        absl::StrCat("a flat buffer is cut in ", options.pieces,
                     " pieces; it is 1..", kMaxPieces));
  }
  if (options.bucket_size.has_value() && *options.bucket_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("bucket_size is ", *options.bucket_size,
                     "; at least 1, or not given for a single bucket"));
  }
  int64_t total = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].elements < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i, " of a flat buffer has ",
                       parameters[i].elements, " elements; at least 1"));
    }
    const auto sum = CheckedAdd(total, parameters[i].elements);
    // A parameter may add its own padding and that of a bucket.
    const auto padded =
        sum.has_value()
            ? CheckedAdd(*sum, static_cast<int64_t>(i + 1) * options.pieces *
                                   kHighBandwidthAlignment)
            : sum;
    if (!padded.has_value() || *padded > kMaxElements) {
      return absl::InvalidArgumentError(
          absl::StrCat("a flat buffer has more than ", kMaxElements,
                       " elements up to parameter ", i));
    }
    total = *sum;
  }
  return absl::OkStatus();
}

// Lays parameters one after the other and closes buckets on the way.
class Filler {
 public:
  explicit Filler(const FlatBufferOptions& options) : options_(options) {
    if (!options.distributed_optimizer) return;
    start_alignment_ = kParameterAlignment;
    end_alignment_ = std::lcm(options.pieces, kBucketAlignment);
    if (options.pad_for_high_bandwidth) {
      end_alignment_ = std::lcm(end_alignment_, kHighBandwidthAlignment);
    }
  }

  FlatSlot Add(const FlatParameter& parameter) {
    const bool alone =
        parameter.shared_embedding && options_.distributed_optimizer;
    int64_t begin = RoundUp(next_, start_alignment_);
    // The bucket before counts the padding up to `begin` as its own.
    if (alone && open_) begin = Close(begin);
    const FlatSlot slot = {.begin = begin,
                           .end = begin + parameter.elements,
                           .bucket = static_cast<int>(buckets_.size())};
    next_ = slot.end;
    open_ = true;
    const bool full = options_.bucket_size.has_value() &&
                      slot.end - bucket_begin_ >= *options_.bucket_size;
    if (full || alone) Close(slot.end);
    return slot;
  }

  std::vector<FlatBucket> Finish() {
    if (open_) Close(next_);
    return std::move(buckets_);
  }

 private:
  // Returns where the next bucket begins.
  int64_t Close(int64_t end) {
    next_ = RoundUp(end, end_alignment_);
    buckets_.push_back({.begin = bucket_begin_,
                        .end = next_,
                        .unpadded = end - bucket_begin_});
    bucket_begin_ = next_;
    open_ = false;
    return next_;
  }

  const FlatBufferOptions& options_;
  int64_t start_alignment_ = 1;
  int64_t end_alignment_ = 1;
  int64_t next_ = 0;
  int64_t bucket_begin_ = 0;
  bool open_ = false;  // the bucket from bucket_begin_ on has a parameter
  std::vector<FlatBucket> buckets_;
};

}  // namespace

absl::StatusOr<FlatBuffer> FlatBuffer::Create(
    absl::Span<const FlatParameter> parameters,
    const FlatBufferOptions& options) {
  RETURN_IF_ERROR(Validate(parameters, options));
  FlatBuffer buffer;
  buffer.pieces_ = options.pieces;
  buffer.slots_.resize(parameters.size());
  Filler filler(options);
  for (size_t i = parameters.size(); i-- > 0;) {
    buffer.slots_[i] = filler.Add(parameters[i]);
  }
  buffer.buckets_ = filler.Finish();
  return buffer;
}

}  // namespace dynatrain::vps::megatron
