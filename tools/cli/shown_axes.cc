#include "tools/cli/shown_axes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
      if (mesh.size(axis) > 1 && !there) {
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
  return parts.empty() ? "the only rank" : absl::StrJoin(parts, ", ");
}

std::string MeshesText(const Layout& layout) {
  std::vector<std::string> texts;
  for (const Mesh& mesh : layout.meshes()) {
    std::vector<std::string> axes;
    for (const vps::MeshAxis& axis : mesh.axes()) {
      axes.push_back(absl::StrCat(axis.name, " ", axis.size));
    }
    texts.push_back(axes.empty() ? "one rank" : absl::StrJoin(axes, " x "));
  }
  return absl::StrJoin(texts, "; ");
}

}  // namespace dynatrain::cli
