// The padded vocabulary: Megatron rounds the rows of word embedding and output
// layer up, so that every tensor-parallel rank gets the same number of them.
// The result changes with tp, so two layouts of one job may differ in it.
// Source: megatron/training/tokenizer/tokenizer.py, _vocab_size_with_padding.
#ifndef VPS_LAYOUT_MEGATRON_VOCAB_H_
#define VPS_LAYOUT_MEGATRON_VOCAB_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace dynatrain::vps::megatron {

// Megatron's --make-vocab-size-divisible-by.
inline constexpr int64_t kDefaultVocabDivisor = 128;

// The least multiple of divisor * tp that is at least `vocab`:
// 50257 at tp 4 -> 50688. Returns kInvalidArgument naming the field if one of
// them is below 1 or the result does not fit 63 bits.
absl::StatusOr<int64_t> PadVocab(int64_t vocab, int64_t tp,
                                 int64_t divisor = kDefaultVocabDivisor);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_VOCAB_H_
