#include "vps/layout/placement.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "vps/geometry/box.h"

namespace dynatrain::vps {
namespace {

// Far above any tensor known (a Mamba projection has 5); it bounds how many
// regions a rank can hold of one tensor.
constexpr int kMaxBlocks = 4096;

// Checks that axes exist and that none is used twice.
class AxisUse {
 public:
  explicit AxisUse(const Mesh& mesh) : mesh_(mesh) {}

  absl::Status Use(int axis) {
    if (axis < 0 || axis >= mesh_.num_axes()) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is not one of the ", mesh_.num_axes(),
                       " of mesh ", mesh_.DebugString()));
    }
    if ((used_ >> axis & 1) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis \"", mesh_.axes()[axis].name,
                       "\" is used twice in one placement"));
    }
    used_ |= 1u << axis;
    return absl::OkStatus();
  }

  absl::Status Use(const AxisGroup& group) {
    if (group.axes.empty()) {
      return absl::InvalidArgumentError("the axis group has no axis");
    }
    int64_t ranks = 1;
    for (int axis : group.axes) {
      RETURN_IF_ERROR(Use(axis));
      ranks *= mesh_.size(axis);
    }
    if (group.pieces < 0 || group.pieces > ranks ||
        (group.pieces > 0 && ranks % group.pieces != 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("pieces is ", group.pieces, "; it divides the ", ranks,
                       " ranks of the axis group, or is 0 for all of them"));
    }
    return absl::OkStatus();
  }

 private:
  const Mesh& mesh_;
  unsigned used_ = 0;
};

// `cut_dims`: a bit per dim that is cut before.
absl::Status ValidateCut(const Cut& cut, unsigned cut_dims) {
  if (cut.dim < 0 || cut.dim >= kMaxDims) {
    return absl::InvalidArgumentError(
        absl::StrCat("dim ", cut.dim, " is not in 0..", kMaxDims - 1));
  }
  if (cut.num_blocks < 1 || cut.num_blocks > kMaxBlocks ||
      cut.block_extents.size() > kMaxBlocks) {
    return absl::InvalidArgumentError(absl::StrCat(
        cut.block_extents.empty() ? cut.num_blocks : cut.block_extents.size(),
        " blocks; their number lies in 1..", kMaxBlocks));
  }
  if (cut.block_extents.empty()) return absl::OkStatus();
  if (cut.num_blocks != 1) {
    return absl::InvalidArgumentError(
        "num_blocks and block_extents are both given; give one");
  }
  if ((cut_dims >> cut.dim & 1) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "block_extents of a cut of dim ", cut.dim,
        " that is cut before: only the first cut of a dim knows its extent"));
  }
  for (int64_t extent : cut.block_extents) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("block_extents holds ", extent, "; none is negative"));
    }
  }
  return absl::OkStatus();
}

// The axes of cuts of which all are lanes: those that say what ranks hold.
unsigned AxesOfCuts(absl::Span<const Cut> cuts, absl::Span<const int> lanes) {
  unsigned axes = 0;
  for (const Cut& cut : cuts) {
    if (cut.group.pieces != 0) continue;  // ranks of one number may differ
    if (!cut.group.IsWithin(lanes)) continue;
    for (int axis : cut.group.axes) axes |= 1u << axis;
  }
  return axes;
}

// `placement` is valid but for its lanes.
absl::Status ValidateLanes(const Placement& placement, const Mesh& mesh) {
  AxisUse use(mesh);
  const unsigned cut_axes = AxesOfCuts(placement.cuts, placement.lanes);
  for (int axis : placement.lanes) {
    RETURN_IF_ERROR(use.Use(axis));
    if (!placement.flat.has_value() || (cut_axes >> axis & 1) != 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "axis \"", mesh.axes()[axis].name,
        "\" is not one of a cut of which all are lanes, so that ranks along it "
        "might hold different pieces of one local tensor; let it locate "
        "copies"));
  }
  return absl::OkStatus();
}

absl::Status ValidateListed(absl::Span<const std::vector<int>> listed,
                            int world_size) {
  absl::flat_hash_set<int> seen;
  for (size_t part = 0; part < listed.size(); ++part) {
    const std::vector<int>& ranks = listed[part];
    const auto wrong = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("listed[", part, "]: ", what...));
    };
    if (ranks.empty()) return wrong("there is no rank");
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] < 0 || ranks[i] >= world_size) {
        return wrong("rank ", ranks[i], " is not in 0..", world_size - 1);
      }
      if (i > 0 && ranks[i] <= ranks[i - 1]) {
        return wrong("rank ", ranks[i], " follows ", ranks[i - 1],
                     "; ranks ascend");
      }
      if (!seen.insert(ranks[i]).second) {
        return wrong("rank ", ranks[i], " holds another part too");
      }
    }
  }
  return absl::OkStatus();
}

std::string GroupText(const AxisGroup& group, const Mesh& mesh) {
  return absl::StrCat(absl::StrJoin(group.axes, "*",
                                    [&](std::string* out, int axis) {
                                      out->append(mesh.axes()[axis].name);
                                    }),
                      group.pieces == 0 ? "" : absl::StrCat("%", group.pieces));
}

std::string CutText(const Cut& cut, const Mesh& mesh) {
  std::string text =
      absl::StrCat(GroupText(cut.group, mesh), " cuts dim ", cut.dim);
  if (cut.num_blocks > 1) {
    absl::StrAppend(&text, " in ", cut.num_blocks, " blocks");
  }
  if (!cut.block_extents.empty()) {
    absl::StrAppend(&text, " in blocks of ",
                    absl::StrJoin(cut.block_extents, ", "));
  }
  return text;
}

}  // namespace

bool AxisGroup::IsWithin(absl::Span<const int> others) const {
  return absl::c_all_of(
      axes, [&](int axis) { return absl::c_linear_search(others, axis); });
}

absl::Status Placement::Validate(const Mesh& mesh) const {
  if (!listed.empty()) {
    if (!located_by.empty() || !cuts.empty() || flat.has_value() ||
        !lanes.empty()) {
      return absl::InvalidArgumentError(
          "listed: a placement that is listed has no other step");
    }
    return ValidateListed(listed, mesh.world_size());
  }
  AxisUse use(mesh);
  for (int axis : located_by) RETURN_IF_ERROR(use.Use(axis), "located_by");
  unsigned cut_dims = 0;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const Cut& cut = cuts[i];
    RETURN_IF_ERROR(use.Use(cut.group), absl::StrCat("cuts[", i, "]"));
    RETURN_IF_ERROR(ValidateCut(cut, cut_dims), absl::StrCat("cuts[", i, "]"));
    cut_dims |= 1u << cut.dim;
  }
  if (flat.has_value()) RETURN_IF_ERROR(use.Use(flat->group), "flat");
  RETURN_IF_ERROR(ValidateLanes(*this, mesh), "lanes");
  return absl::OkStatus();
}

std::string Placement::DebugString(const Mesh& mesh) const {
  if (!listed.empty()) {
    return absl::StrCat("listed, in ", listed.size(),
                        listed.size() == 1 ? " part" : " parts");
  }
  std::vector<std::string> steps;
  if (!located_by.empty()) {
    steps.push_back(absl::StrCat("at ", GroupText({located_by, 0}, mesh)));
  }
  for (const Cut& cut : cuts) steps.push_back(CutText(cut, mesh));
  if (flat.has_value()) {
    steps.push_back(absl::StrCat(GroupText(flat->group, mesh), " cuts flat"));
  }
  if (!lanes.empty()) {
    steps.push_back(absl::StrCat("lies by ", GroupText({lanes, 0}, mesh)));
  }
  return steps.empty() ? "everywhere, whole" : absl::StrJoin(steps, "; ");
}

}  // namespace dynatrain::vps
