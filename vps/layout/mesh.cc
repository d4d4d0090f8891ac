#include "vps/layout/mesh.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::vps {
namespace {

absl::Status Validate(absl::Span<const MeshAxis> axes) {
  if (axes.size() > kMaxMeshAxes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "mesh has ", axes.size(), " axes; at most ", kMaxMeshAxes));
  }
  int64_t world_size = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("mesh axis ", i, " has no name"));
    }
    for (size_t j = 0; j < i; ++j) {
      if (axes[j].name == axes[i].name) {
        return absl::InvalidArgumentError(
            absl::StrCat("mesh axis \"", axes[i].name, "\" is there twice"));
      }
    }
    if (axes[i].size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("mesh axis \"", axes[i].name, "\" has size ",
                       axes[i].size, "; at least 1"));
    }
    world_size *= axes[i].size;
    if (world_size > kMaxWorldSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("mesh has more than ", kMaxWorldSize,
                       " ranks up to axis \"", axes[i].name, "\""));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Mesh> Mesh::Create(std::vector<MeshAxis> axes) {
  if (absl::Status status = Validate(axes); !status.ok()) return status;
  Mesh mesh;
  mesh.axes_ = std::move(axes);
  mesh.strides_.resize(mesh.axes_.size());
  for (int axis = mesh.num_axes() - 1; axis >= 0; --axis) {
    mesh.strides_[axis] = mesh.world_size_;
    mesh.world_size_ *= mesh.axes_[axis].size;
  }
  return mesh;
}

Mesh Mesh::Of(const AxisSizes& sizes) {
  return *Create({{"pp", sizes.pp()},
                  {"rep", sizes.rep()},
                  {"dp", sizes.dp()},
                  {"ep", sizes.ep()},
                  {"tp", sizes.tp()}});
}

std::optional<int> Mesh::AxisIndex(absl::string_view name) const {
  for (int axis = 0; axis < num_axes(); ++axis) {
    if (axes_[axis].name == name) return axis;
  }
  return std::nullopt;
}

Mesh::Coordinates Mesh::CoordinatesOf(int rank) const {
  Coordinates coordinates(axes_.size());
  for (int axis = 0; axis < num_axes(); ++axis) {
    coordinates[axis] = Coordinate(rank, axis);
  }
  return coordinates;
}

std::optional<int> Mesh::RankOf(absl::Span<const int> coordinates) const {
  if (coordinates.size() != axes_.size()) return std::nullopt;
  int rank = 0;
  for (int axis = 0; axis < num_axes(); ++axis) {
    if (coordinates[axis] < 0 || coordinates[axis] >= axes_[axis].size) {
      return std::nullopt;
    }
    rank += coordinates[axis] * strides_[axis];
  }
  return rank;
}

std::string Mesh::DebugString() const {
  std::string text;
  for (const MeshAxis& axis : axes_) {
    absl::StrAppend(&text, text.empty() ? "" : ",", axis.name, axis.size);
  }
  return text;
}

}  // namespace dynatrain::vps
