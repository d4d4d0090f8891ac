#include "tools/cli/picture/picture_rows.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/tensor_place.h"

namespace dynatrain::cli {
namespace {

enum class Grain { kTensors, kModules, kLayers };

// What a tensor's row is called within its block.
std::string LabelOf(const TensorPlace& place, Grain grain) {
  switch (grain) {
    case Grain::kTensors:
      return place.InLayer();
    case Grain::kModules:
      return place.module.empty() ? place.rest : place.module;
    case Grain::kLayers:
      break;
  }
  if (place.layer >= 0) return "";
  return place.module.empty() ? place.rest : place.module;
}

std::vector<PictureRow> RowsOf(const vps::Layout& layout,
                               absl::Span<const int> tensors, Grain grain) {
  std::vector<PictureRow> rows;
  absl::flat_hash_map<std::pair<std::string, std::string>, int> places;
  for (int tensor : tensors) {
    TensorPlace place = PlaceOf(layout.tensor(tensor).name());
    std::string label = LabelOf(place, grain);
    const auto [it, added] = places.emplace(std::pair(place.block, label),
                                            static_cast<int>(rows.size()));
    if (added) rows.push_back({std::move(place.block), std::move(label), {}});
    rows[it->second].tensors.push_back(tensor);
  }
  return rows;
}

}  // namespace

std::vector<PictureRow> PictureRows(const vps::Layout& layout,
                                    absl::Span<const int> tensors) {
  for (Grain grain : {Grain::kTensors, Grain::kModules}) {
    std::vector<PictureRow> rows = RowsOf(layout, tensors, grain);
    if (rows.size() <= kMostPictureRows) return rows;
  }
  return RowsOf(layout, tensors, Grain::kLayers);
}

}  // namespace dynatrain::cli
