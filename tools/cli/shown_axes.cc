#include "tools/cli/shown_axes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "vps/layout/listing/listed_layout.h"

namespace dynatrain::cli {

using vps::Layout;
using vps::Mesh;

std::vector<ShownAxis> ShownAxes(const Layout& layout) {
  std::vector<ShownAxis> shown;
  for (int m = 0; m < layout.meshes().size(); ++m) {
    const Mesh& mesh = layout.meshes()[m];
    for (int axis = 0; axis < mesh.num_axes(); ++axis) {
      const std::string& name = mesh.axes()[axis].name;
      const bool there = std::any_of(
          shown.begin(), shown.end(),
          [&](const ShownAxis& other) { return other.name == name; });
      // That of a listing is the rank, which is shown anyway.
      if (mesh.size(axis) > 1 && !there && name != vps::kRankAxis) {
        shown.push_back({m, axis, name, mesh.size(axis)});
      }
    }
  }
  return shown;
}

int Coordinate(const Layout& layout, const ShownAxis& axis, int rank) {
  return layout.meshes()[axis.mesh].Coordinate(rank, axis.axis);
}

std::string CoordinatesText(const Layout& layout, int rank) {
  std::vector<std::string> parts;
  for (const ShownAxis& axis : ShownAxes(layout)) {
    parts.push_back(
        absl::StrCat(axis.name, " ", Coordinate(layout, axis, rank)));
  }
  if (!parts.empty()) return absl::StrJoin(parts, ", ");
  return layout.world_size() == 1 ? "the only rank" : "as listed";
}

std::string MeshesText(const Layout& layout) {
  std::vector<std::string> texts;
  for (const Mesh& mesh : layout.meshes()) {
    std::vector<std::string> axes;
    if (mesh.AxisIndex(vps::kRankAxis).has_value()) {
      texts.push_back("as listed");
      continue;
    }
    for (const vps::MeshAxis& axis : mesh.axes()) {
      axes.push_back(absl::StrCat(axis.name, " ", axis.size));
    }
    texts.push_back(axes.empty() ? "one rank" : absl::StrJoin(axes, " x "));
  }
  return absl::StrJoin(texts, "; ");
}

}  // namespace dynatrain::cli
