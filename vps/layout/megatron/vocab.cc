#include "vps/layout/megatron/vocab.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps::megatron {

absl::StatusOr<int64_t> PadVocab(int64_t vocab, int64_t tp, int64_t divisor) {
  if (vocab < 1 || tp < 1 || divisor < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("vocabulary of ", vocab, " rows at tp ", tp,
                     " and divisor ", divisor, ": each is at least 1"));
  }
  const std::optional<int64_t> step = CheckedMultiply(divisor, tp);
  const std::optional<int64_t> padded =
      step.has_value() ? CheckedRoundUp(vocab, *step) : std::nullopt;
  if (!padded.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("vocabulary of ", vocab, " rows padded to a multiple of ",
                     divisor, " * tp ", tp, " does not fit 63 bits"));
  }
  return *padded;
}

}  // namespace dynatrain::vps::megatron
