// The mesh axes that tell ranks apart, for tables and pictures: those of all
// meshes with more than one rank, slowest first, each name once (the dense and
// the expert mesh of a layout both have pp).
#ifndef TOOLS_CLI_SHOWN_AXES_H_
#define TOOLS_CLI_SHOWN_AXES_H_

#include <string>
#include <vector>

#include "vps/layout/layout.h"

namespace dynatrain::cli {

struct ShownAxis {
  int mesh;
  int axis;
  std::string name;
  int size;
};

std::vector<ShownAxis> ShownAxes(const vps::Layout& layout);

int Coordinate(const vps::Layout& layout, const ShownAxis& axis, int rank);

// "pp 1, dp 0, tp 1"; without axes "the only rank", or "as listed".
std::string CoordinatesText(const vps::Layout& layout, int rank);

// "pp2 dp2 tp2; etp1 ..." of each mesh: "pp 2 x dp 2 x tp 2"; "as listed".
std::string MeshesText(const vps::Layout& layout);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_SHOWN_AXES_H_
