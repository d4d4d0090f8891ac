// Mesh: the ranks of a world arranged on named axes. Rank 0 has coordinate 0 on
// each; the last axis runs fastest, as in torch's DeviceMesh.
#ifndef VPS_LAYOUT_MESH_H_
#define VPS_LAYOUT_MESH_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/layout/axis_sizes.h"

namespace dynatrain::vps {

inline constexpr int kMaxMeshAxes = 8;

struct MeshAxis {
  std::string name;
  int size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

class Mesh {
 public:
  using Coordinates = absl::InlinedVector<int, kMaxMeshAxes>;

  // Axes slowest first. Returns kInvalidArgument naming the axis if there are
  // more than kMaxMeshAxes, a name is empty or there twice, a size is below 1,
  // or the product is above kMaxWorldSize. No axis at all is a world of one.
  static absl::StatusOr<Mesh> Create(std::vector<MeshAxis> axes);
  // pp, rep, dp, ep, tp (tp fastest): the mesh of a job that is told by its
  // axis sizes. Cannot fail.
  static Mesh Of(const AxisSizes& sizes);

  int world_size() const { return world_size_; }
  absl::Span<const MeshAxis> axes() const { return axes_; }
  int num_axes() const { return static_cast<int>(axes_.size()); }
  int size(int axis) const { return axes_[axis].size; }
  // How far apart two ranks are that differ by one on `axis` alone.
  int stride(int axis) const { return strides_[axis]; }
  std::optional<int> AxisIndex(absl::string_view name) const;

  // REQUIRES: 0 <= rank < world_size().
  int Coordinate(int rank, int axis) const {
    return rank / strides_[axis] % axes_[axis].size;
  }
  Coordinates CoordinatesOf(int rank) const;
  // The inverse of CoordinatesOf; nullopt if there are not as many coordinates
  // as axes, or one is outside of its axis.
  std::optional<int> RankOf(absl::Span<const int> coordinates) const;

  // "pp1,rep1,dp2,ep1,tp4".
  std::string DebugString() const;

  friend bool operator==(const Mesh&, const Mesh&) = default;

 private:
  Mesh() = default;

  std::vector<MeshAxis> axes_;
  std::vector<int> strides_;
  int world_size_ = 1;
};

inline std::ostream& operator<<(std::ostream& out, const Mesh& mesh) {
  return out << mesh.DebugString();
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_MESH_H_
