#include "vps/layout/torch/dtensor_placement.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace dynatrain::vps {
namespace {

absl::Status NoPlacement(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::CHexEscape(text.substr(0, 64)),
      "\" is no placement; one is R, S(dim) or _S(dim, split_factor), as torch "
      "prints it"));
}

// The numbers in "(dim=0, sf=2)", each perhaps with one of its names.
std::optional<std::vector<int>> ParseArguments(
    absl::string_view text, absl::Span<const std::vector<std::string>> names) {
  if (!absl::ConsumePrefix(&text, "(") || !absl::ConsumeSuffix(&text, ")")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() != names.size()) return std::nullopt;
  std::vector<int> numbers;
  for (size_t i = 0; i < parts.size(); ++i) {
    absl::string_view part = absl::StripAsciiWhitespace(parts[i]);
    for (const std::string& name : names[i]) {
      if (absl::ConsumePrefix(&part, absl::StrCat(name, "="))) break;
    }
    int number = 0;
    if (!absl::SimpleAtoi(part, &number)) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

absl::Status CheckDim(int dim, int dims) {
  if (dim >= 0 && dim < dims) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("dim ", dim,
                   dims == 0 ? ": a scalar has no dim to shard"
                             : absl::StrCat(" is not in 0..", dims - 1)));
}

}  // namespace

absl::StatusOr<DTensorPlacement> ParseDTensorPlacement(absl::string_view text) {
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  if (rest == "R" || rest == "Replicate()") return DTensorPlacement{};
  for (absl::string_view partial : {"P", "Partial", "_MaskPartial"}) {
    if (rest == partial || absl::StartsWith(rest, absl::StrCat(partial, "("))) {
      return absl::InvalidArgumentError(
          absl::StrCat(absl::CHexEscape(rest.substr(0, 64)),
                       ": the elements of a partial tensor are sums over "
                       "ranks, which no rank "
                       "holds; redistribute it first"));
    }
  }
  const std::vector<std::string> dim_names = {"dim"};
  const std::vector<std::string> factor_names = {"split_factor", "sf"};
  std::optional<std::vector<int>> numbers;
  if (absl::ConsumePrefix(&rest, "_StridedShard") ||
      absl::ConsumePrefix(&rest, "_S")) {
    numbers = ParseArguments(rest, {dim_names, factor_names});
  } else if (absl::ConsumePrefix(&rest, "Shard") ||
             absl::ConsumePrefix(&rest, "S")) {
    numbers = ParseArguments(rest, {dim_names});
  }
  if (!numbers.has_value() || (*numbers)[0] < 0) return NoPlacement(text);
  DTensorPlacement placement{.dim = (*numbers)[0]};
  if (numbers->size() > 1) placement.split_factor = (*numbers)[1];
  if (placement.split_factor < 1) return NoPlacement(text);
  return placement;
}

std::string DebugString(const DTensorPlacement& placement) {
  if (placement.dim == DTensorPlacement::kReplicate) return "R";
  if (placement.split_factor == 1)
    return absl::StrCat("S(", placement.dim, ")");
  return absl::StrCat("_S(", placement.dim, ", ", placement.split_factor, ")");
}

absl::StatusOr<std::vector<Cut>> CutsOfPlacements(
    const Mesh& mesh, int dims, absl::Span<const DTensorPlacement> placements) {
  if (static_cast<int>(placements.size()) != mesh.num_axes()) {
    return absl::InvalidArgumentError(absl::StrCat(
        placements.size(), " placements for the ", mesh.num_axes(),
        " axes of mesh ", mesh.DebugString(), "; one for each is needed"));
  }
  std::vector<Cut> cuts;
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    const DTensorPlacement& placement = placements[axis];
    if (placement.dim == DTensorPlacement::kReplicate) continue;
    RETURN_IF_ERROR(CheckDim(placement.dim, dims),
                    absl::StrCat("placements[", axis, "]"));
    if (placement.split_factor < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("placements[", axis, "]: split_factor ",
                       placement.split_factor, " is below 1"));
    }
    if (mesh.size(axis) == 1) continue;  // cuts nothing
    cuts.push_back({.group = {.axes = {axis}},
                    .dim = placement.dim,
                    .num_blocks = placement.split_factor});
  }
  return cuts;
}

}  // namespace dynatrain::vps
