#include "vps/layout/held_checks.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/most_local.h"

namespace dynatrain::vps {
namespace {

absl::Status CheckAt(const LayoutBody& body, const Held& held) {
  const Placement& placement = body.placements[held.placement];
  const Mesh& mesh = body.meshes[placement.mesh];
  if (held.at.size() != placement.located_by.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "at has ", held.at.size(), " coordinates, the placement is located by ",
        placement.located_by.size(), " axes"));
  }
  for (size_t i = 0; i < held.at.size(); ++i) {
    const MeshAxis& axis = mesh.axes()[placement.located_by[i]];
    if (held.at[i] >= 0 && held.at[i] < axis.size) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("at: coordinate ", held.at[i], " on axis \"", axis.name,
                     "\" is not in 0..", axis.size - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckCuts(const Placement& placement, const TensorSpec& spec) {
  for (size_t i = 0; i < placement.cuts.size(); ++i) {
    const Cut& cut = placement.cuts[i];
    if (cut.dim >= spec.shape().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cuts[", i, "]: dim ", cut.dim, " is not one of the ",
                       spec.shape().size(), " of shape [",
                       absl::StrJoin(spec.shape(), ", "), "]"));
    }
    if (cut.block_extents.empty()) continue;
    std::optional<int64_t> sum = 0;
    for (int64_t extent : cut.block_extents) {
      sum = CheckedAdd(*sum, extent);
      if (!sum.has_value()) break;
    }
    if (sum == spec.shape()[cut.dim]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "cuts[", i, "]: block_extents sum up to ",
        sum.has_value() ? absl::StrCat(*sum) : "more than fits 63 bits",
        ", dim ", cut.dim, " has ", spec.shape()[cut.dim]));
  }
  return absl::OkStatus();
}

// Of lane number `lane`, at `flat`.
absl::Status CheckFlat(const LayoutBody& body, const Held& held,
                       const TensorSpec& spec, int lane, FlatPosition flat) {
  const int group = body.body_of(held).flat_group;
  const auto [position, shard] = flat;
  if (group < 0) {
    if (flat == FlatPosition{}) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "flat is given, but the placement is not flattened");
  }
  if (position < 0 || shard < 1) {
    return absl::InvalidArgumentError(absl::StrCat("flat: position ", position,
                                                   " and shard ", shard,
                                                   "; at least 0 and 1"));
  }
  const int64_t elements = MostLocalElements(body, held, spec, lane);
  const auto end = CheckedAdd(position, elements);
  const auto run = CheckedMultiply(body.groups[group].pieces(), shard);
  if (!end.has_value() || !run.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("flat: position ", position,
                                                   " or shard ", shard,
                                                   " does not fit 63 bits"));
  }
  if (*end > *run) {
    return absl::InvalidArgumentError(
        absl::StrCat("flat: ", elements, " elements from position ", position,
                     " end at ", *end, ", beyond the run of ",
                     body.groups[group].pieces(), " shards of ", shard));
  }
  return absl::OkStatus();
}

absl::Status CheckStorage(const LayoutBody& body, const Storage& storage) {
  const int buffers = static_cast<int>(body.buffers.size());
  if (storage.buffer < Storage::kOwnTensor || storage.buffer >= buffers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "storage: buffer ", storage.buffer, " is not one of the ", buffers));
  }
  if (storage.offset < 0 ||
      (storage.buffer == Storage::kOwnTensor && storage.offset != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("storage: offset ", storage.offset,
                     "; 0 or more in a buffer, 0 in the tensor's own memory"));
  }
  return absl::OkStatus();
}

absl::Status CheckLanes(const LayoutBody& body, const Held& held,
                        const TensorSpec& spec) {
  const int group = body.body_of(held).lane_group;
  if (group < 0) {
    if (!held.lanes.empty()) {
      return absl::InvalidArgumentError(
          "lanes are given, but the placement has none");
    }
    RETURN_IF_ERROR(CheckFlat(body, held, spec, 0, held.flat));
    return CheckStorage(body, held.storage);
  }
  const int pieces = body.groups[group].pieces();
  if (static_cast<int>(held.lanes.size()) != pieces) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", held.lanes.size(), " lanes; the axes have ",
                     pieces, " coordinates"));
  }
  if (held.flat != FlatPosition() || held.storage != Storage()) {
    return absl::InvalidArgumentError(
        "flat or storage is given, but the placement has lanes: they have it");
  }
  for (int lane = 0; lane < pieces; ++lane) {
    const std::string where = absl::StrCat("lanes[", lane, "]");
    RETURN_IF_ERROR(CheckFlat(body, held, spec, lane, held.lanes[lane].flat),
                    where);
    RETURN_IF_ERROR(CheckStorage(body, held.lanes[lane].storage), where);
  }
  return absl::OkStatus();
}

absl::Status CheckListed(const LayoutBody& body, const Held& held,
                         const TensorSpec& spec) {
  const size_t parts = body.placements[held.placement].listed.size();
  const int copies = static_cast<int>(body.listed.size());
  if (parts == 0) {
    if (held.listed == -1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "listed is given, but the placement is not listed");
  }
  if (held.listed < 0 || held.listed >= copies) {
    return absl::InvalidArgumentError(
        absl::StrCat("listed: ", held.listed, " is not one of the ", copies));
  }
  if (held.storage != Storage()) {
    return absl::InvalidArgumentError(
        "storage is given, but the placement is listed: its parts have it");
  }
  const ListedCopy& copy = body.listed[held.listed];
  if (copy.size() != parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "listed: there are ", copy.size(), " parts, and ranks of ", parts));
  }
  for (size_t i = 0; i < copy.size(); ++i) {
    RETURN_IF_ERROR(CheckStorage(body, copy[i].storage),
                    absl::StrCat("listed: part ", i));
  }
  RETURN_IF_ERROR(ValidateListedCopy(spec.whole(), copy), "listed");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckHeld(const LayoutBody& body, const Held& held,
                       const TensorSpec& spec) {
  const int placements = static_cast<int>(body.placements.size());
  if (held.placement < 0 || held.placement >= placements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "placement ", held.placement, " is not one of the ", placements));
  }
  RETURN_IF_ERROR(CheckAt(body, held));
  RETURN_IF_ERROR(CheckCuts(body.placements[held.placement], spec));
  RETURN_IF_ERROR(CheckLanes(body, held, spec));
  return CheckListed(body, held, spec);
}

}  // namespace dynatrain::vps
