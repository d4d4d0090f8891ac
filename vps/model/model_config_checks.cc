#include "vps/model/model_config_checks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps {
namespace {

absl::Status Invalid(absl::string_view field, const absl::AlphaNum& value,
                     absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", value, " ", what));
}

absl::Status InRange(absl::string_view field, int64_t value, int64_t min,
                     int64_t max) {
  if (min <= value && value <= max) return absl::OkStatus();
  return Invalid(field, value,
                 absl::StrCat("is not in [", min, ", ", max, "]"));
}

absl::Status Extent(absl::string_view field, int64_t value, int64_t min = 1) {
  return InRange(field, value, min, ModelConfig::kMaxExtent);
}

// The divisors of `whole` next to `value`, for a message: "the nearest that do
// are 4 and 8".
std::string NearestDivisors(int64_t value, int64_t whole) {
  int64_t below = 0, above = 0;
  for (int64_t d = 1; d * d <= whole; ++d) {
    if (whole % d != 0) continue;
    for (const int64_t divisor : {d, whole / d}) {
      if (divisor < value) below = std::max(below, divisor);
      if (divisor > value && (above == 0 || divisor < above)) above = divisor;
    }
  }
  if (above == 0) return absl::StrCat("the nearest that does is ", below);
  return absl::StrCat("the nearest that do are ", below, " and ", above);
}

// REQUIRES: both are positive, so that 1 divides and is at most `value`.
absl::Status Divides(absl::string_view field, int64_t value,
                     absl::string_view whole_field, int64_t whole) {
  if (whole % value == 0) return absl::OkStatus();
  return Invalid(field, value,
                 absl::StrCat("does not divide ", whole_field, " ", whole, "; ",
                              NearestDivisors(value, whole)));
}

absl::Status CheckExperts(const ModelNumbers& n) {
  const ExpertNumbers& experts = *n.experts;
  RETURN_IF_ERROR(
      InRange("experts.count", experts.count, 1, ModelConfig::kMaxTensors));
  RETURN_IF_ERROR(Extent("experts.ffn", experts.ffn));
  RETURN_IF_ERROR(Extent("experts.shared_ffn", experts.shared_ffn, 0));
  RETURN_IF_ERROR(
      InRange("experts.first_dense", experts.first_dense, 0, n.layers));
  RETURN_IF_ERROR(InRange("experts.frequency", experts.frequency, 1,
                          ModelConfig::kMaxLayers));
  RETURN_IF_ERROR(
      InRange("experts.phase", experts.phase, 0, experts.frequency - 1));
  if (experts.shared_ffn == 0 && experts.shared_gate) {
    return Invalid("experts.shared_gate", "true",
                   "needs shared experts: experts.shared_ffn is 0");
  }
  if (experts.shared_ffn > 0 && n.bias) {
    return Invalid("bias", "true",
                   "does not go with shared experts, which have none: "
                   "use false, or experts.shared_ffn 0");
  }
  return absl::OkStatus();
}

absl::Status CheckLatent(const ModelNumbers& n) {
  const LatentNumbers& latent = *n.latent;
  RETURN_IF_ERROR(Extent("latent.q_rank", latent.q_rank, 0));
  RETURN_IF_ERROR(Extent("latent.kv_rank", latent.kv_rank));
  RETURN_IF_ERROR(Extent("latent.nope_dim", latent.nope_dim));
  RETURN_IF_ERROR(Extent("latent.rope_dim", latent.rope_dim));
  RETURN_IF_ERROR(Extent("latent.v_dim", latent.v_dim));
  constexpr absl::string_view kInstead =
      "does not go with latent attention, which has its own dims: leave it out";
  if (n.query_groups != 0) {
    return Invalid("query_groups", n.query_groups, kInstead);
  }
  if (n.head_dim != 0) return Invalid("head_dim", n.head_dim, kInstead);
  if (n.qkv_bias) return Invalid("qkv_bias", "true", kInstead);
  if (n.output_gate) return Invalid("output_gate", "true", kInstead);
  return absl::OkStatus();
}

absl::Status CheckPattern(const ModelNumbers& n) {
  const std::string& pattern = n.mamba->pattern;
  if (static_cast<int64_t>(pattern.size()) != n.layers) {
    return Invalid("mamba.pattern", pattern.size(),
                   absl::StrCat("characters, but layers is ", n.layers,
                                ": one character per layer"));
  }
  const size_t wrong = pattern.find_first_not_of("M*-E");
  if (wrong != std::string::npos) {
    return Invalid(
        "mamba.pattern",
        absl::StrCat("\"", absl::CHexEscape(pattern.substr(wrong, 1)), "\""),
        absl::StrCat("at layer ", wrong,
                     " is none of M (Mamba), * (attention), - (feed-forward), "
                     "E (experts)"));
  }
  const bool has_experts = pattern.find('E') != std::string::npos;
  if (has_experts == n.experts.has_value()) return absl::OkStatus();
  return Invalid("mamba.pattern", absl::StrCat(has_experts ? "an" : "no", " E"),
                 has_experts ? "needs experts, which are not given"
                             : "although experts are given");
}

absl::Status CheckMamba(const ModelNumbers& n) {
  const MambaNumbers& mamba = *n.mamba;
  RETURN_IF_ERROR(CheckPattern(n));
  RETURN_IF_ERROR(Extent("mamba.heads", mamba.heads));
  RETURN_IF_ERROR(Extent("mamba.head_dim", mamba.head_dim));
  RETURN_IF_ERROR(Extent("mamba.groups", mamba.groups));
  RETURN_IF_ERROR(Extent("mamba.state", mamba.state));
  RETURN_IF_ERROR(Extent("mamba.convolution", mamba.convolution));
  RETURN_IF_ERROR(
      Divides("mamba.groups", mamba.groups, "mamba.heads", mamba.heads));
  if (n.mtp_layers != 0) {
    return Invalid("mtp_layers", n.mtp_layers,
                   "does not go with a hybrid model: use 0");
  }
  if (n.experts.has_value() &&
      (n.experts->first_dense != 0 || n.experts->frequency != 1)) {
    return Invalid(
        "experts.first_dense, experts.frequency",
        absl::StrCat(n.experts->first_dense, ", ", n.experts->frequency),
        "are said by mamba.pattern: leave them out");
  }
  return absl::OkStatus();
}

bool HasAttention(const ModelNumbers& n) {
  return !n.mamba.has_value() ||
         n.mamba->pattern.find('*') != std::string::npos;
}

// Fills in query_groups and head_dim.
absl::Status CompleteAttention(ModelNumbers& n) {
  if (!HasAttention(n)) {
    if (n.heads == 0 && n.query_groups == 0 && n.head_dim == 0 &&
        !n.latent.has_value()) {
      return absl::OkStatus();
    }
    return Invalid("heads", n.heads,
                   "although no layer of mamba.pattern has attention (*): "
                   "leave heads, query_groups, head_dim and latent out");
  }
  RETURN_IF_ERROR(Extent("heads", n.heads));
  if (n.latent.has_value()) return CheckLatent(n);
  RETURN_IF_ERROR(Extent("query_groups", n.query_groups, 0));
  RETURN_IF_ERROR(Extent("head_dim", n.head_dim, 0));
  if (n.query_groups == 0) n.query_groups = n.heads;
  RETURN_IF_ERROR(Divides("query_groups", n.query_groups, "heads", n.heads));
  if (n.head_dim == 0) {
    RETURN_IF_ERROR(Divides("heads", n.heads, "hidden", n.hidden),
                    "head_dim is not given");
    n.head_dim = n.hidden / n.heads;
  }
  return absl::OkStatus();
}

absl::Status CheckScalars(const ModelNumbers& n) {
  RETURN_IF_ERROR(Extent("hidden", n.hidden));
  RETURN_IF_ERROR(InRange("layers", n.layers, 1, ModelConfig::kMaxLayers));
  RETURN_IF_ERROR(Extent("vocabulary", n.vocabulary));
  RETURN_IF_ERROR(Extent("positions", n.positions, 0));
  RETURN_IF_ERROR(Extent("ffn", n.ffn, 0));
  return InRange("mtp_layers", n.mtp_layers, 0, ModelConfig::kMaxLayers);
}

// More than any layer, or what stands around the layers, has besides experts.
constexpr int64_t kTensorsPerLayer = 32;

// No fewer tensors than the model has.
int64_t TensorBound(const ModelNumbers& n) {
  const int64_t layers = n.layers + n.mtp_layers;
  const int64_t experts = n.experts.has_value() ? n.experts->count : 0;
  return (layers + 1) * kTensorsPerLayer + layers * experts * (n.bias ? 4 : 2);
}

// No tensor has more rows. At most 2^58, as each extent is at most kMaxExtent.
int64_t RowBound(const ModelNumbers& n) {
  int64_t rows = std::max({n.vocabulary, n.positions, 2 * n.ffn, n.hidden,
                           2 * (n.heads + n.query_groups) * n.head_dim});
  if (n.experts.has_value()) {
    rows = std::max({rows, n.experts->count, 2 * n.experts->ffn,
                     2 * n.experts->shared_ffn});
  }
  if (n.latent.has_value()) {
    rows = std::max(
        {rows, n.latent->q_rank, n.latent->kv_rank + n.latent->rope_dim,
         n.heads * (n.latent->nope_dim +
                    std::max(n.latent->rope_dim, n.latent->v_dim))});
  }
  if (n.mamba.has_value()) {
    rows = std::max(rows, 2 * n.mamba->inner() + n.mamba->heads +
                              2 * n.mamba->groups * n.mamba->state);
  }
  return rows;
}

// No tensor has more elements in a row. Row-parallel matrices have as many
// columns as a column-parallel one has rows.
int64_t ColumnBound(const ModelNumbers& n) {
  int64_t columns = 2 * n.hidden;
  if (n.latent.has_value()) {
    columns = std::max({columns, n.latent->q_rank, n.latent->kv_rank});
  }
  if (n.mamba.has_value()) columns = std::max(columns, n.mamba->convolution);
  return columns;
}

absl::Status CheckLimits(const ModelNumbers& n) {
  const int64_t tensors = TensorBound(n);
  if (tensors > ModelConfig::kMaxTensors) {
    return absl::InvalidArgumentError(absl::StrCat(
        "layers, experts.count: the model has up to ", tensors,
        " tensors; at most ", ModelConfig::kMaxTensors, " are allowed"));
  }
  const std::optional<int64_t> largest =
      CheckedMultiply(RowBound(n), ColumnBound(n));
  if (largest.has_value() && *largest <= ModelConfig::kMaxElements / tensors) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the model is too large: up to ", tensors, " tensors of up to ",
      RowBound(n), " rows and ", ColumnBound(n),
      " columns; the product may be at most ", ModelConfig::kMaxElements));
}

}  // namespace

absl::Status CheckAndComplete(ModelNumbers& n) {
  RETURN_IF_ERROR(CheckScalars(n));
  if (n.experts.has_value()) RETURN_IF_ERROR(CheckExperts(n));
  if (n.mamba.has_value()) RETURN_IF_ERROR(CheckMamba(n));
  RETURN_IF_ERROR(CompleteAttention(n));
  return CheckLimits(n);
}

}  // namespace dynatrain::vps
