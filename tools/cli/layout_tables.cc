#include "tools/cli/layout_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/ranges_text.h"
#include "tools/cli/holders_text.h"
#include "tools/cli/selection.h"
#include "tools/cli/shown_axes.h"
#include "tools/cli/tensor_place.h"
#include "tools/cli/text_table.h"
#include "vps/layout/listing/list_rank.h"

namespace dynatrain::cli {
namespace {

using vps::Layout;
using vps::OwnedRegion;
using Align = TextTable::Align;

std::string Ranges(const std::set<int>& numbers) {
  if (numbers.empty()) return "-";
  return RangesText(std::vector<int>(numbers.begin(), numbers.end()));
}

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// What a rank has, summed up.
struct Holdings {
  std::set<int> layers;
  std::set<int> experts;
  std::vector<std::string> outside;  // modules that are in no layer
  std::map<std::string, std::pair<int64_t, int64_t>> by_state;  // el., bytes
  int64_t bytes = 0;

  void AddPlace(const TensorPlace& place) {
    if (place.expert >= 0) experts.insert(place.expert);
    if (place.layer >= 0) {
      layers.insert(place.layer);
      return;
    }
    const std::string& part = place.module.empty() ? place.rest : place.module;
    if (std::find(outside.begin(), outside.end(), part) == outside.end()) {
      outside.push_back(part);
    }
  }
};

Holdings HoldingsOf(const Layout& layout, int rank) {
  Holdings holdings;
  int last = -1;
  layout.ForEachRegion(rank, [&](const OwnedRegion& region) {
    const vps::TensorSpec& spec = layout.tensor(region.tensor);
    auto& [elements, bytes] = holdings.by_state[spec.state()];
    const int64_t more = region.global.num_elements();
    elements += more;
    bytes += more * spec.item_bytes();
    holdings.bytes += more * spec.item_bytes();
    if (region.tensor != last) holdings.AddPlace(PlaceOf(spec.name()));
    last = region.tensor;
  });
  return holdings;
}

// "5,000 (20 kB)".
std::string AmountText(const std::pair<int64_t, int64_t>& amount) {
  return absl::StrCat(Grouped(amount.first), " (", BytesText(amount.second),
                      ")");
}

std::string WhereText(const Layout& layout, int rank, int tensor, int copy,
                      int64_t offset) {
  const int buffer = layout.BufferOf(rank, tensor, copy);
  if (buffer == vps::Storage::kOwnTensor) {
    return offset == 0 ? "own tensor" : absl::StrCat("own tensor + ", offset);
  }
  return absl::StrCat(layout.buffers()[buffer], " + ",
                      layout.BufferOffset(rank, tensor, copy) + offset);
}

std::string CopyOwners(const Layout& layout, int tensor, int copy) {
  struct Part {
    std::string holders;
    std::string boxes;
  };
  // Parts of the same ranks on one line, in the order in which they come.
  std::vector<Part> parts;
  absl::flat_hash_map<std::string, int> part_of_holders;
  layout.ForEachPiece(
      tensor, copy, layout.tensor(tensor).whole(),
      [&](const vps::Piece& piece) {
        const std::string holders = HoldersText(piece.holders);
        const auto [it, added] =
            part_of_holders.emplace(holders, static_cast<int>(parts.size()));
        if (added) parts.push_back({holders, ""});
        absl::StrAppend(&parts[it->second].boxes, " ", piece.box.DebugString());
      });
  std::string text;
  for (int i = 0; i < parts.size() && i < kMaxParts; ++i) {
    absl::StrAppend(&text, "  ", parts[i].holders, ":", parts[i].boxes, "\n");
  }
  if (parts.size() > kMaxParts) {
    absl::StrAppend(&text, "  ... and ", parts.size() - kMaxParts,
                    " more parts; --rank shows those of a rank\n");
  }
  return text;
}

}  // namespace

std::string HeadText(const api::LoadedLayout& loaded) {
  const Layout& layout = loaded.layout;
  std::string text = loaded.model.empty() ? "a model" : loaded.model;
  absl::StrAppend(&text, ", ", loaded.framework,
                  loaded.framework_version.empty() ? "" : " ",
                  loaded.framework_version, ", ", Grouped(layout.world_size()),
                  layout.world_size() == 1 ? " rank: " : " ranks: ",
                  MeshesText(layout), "\n");
  std::map<std::string, int64_t> tensors;
  for (int i = 0; i < layout.num_tensors(); ++i) {
    ++tensors[layout.tensor(i).state()];
  }
  std::vector<std::string> states;
  for (const std::string& state : StatesOf(layout)) {
    states.push_back(absl::StrCat(Grouped(tensors[state]), " ", state));
  }
  absl::StrAppend(&text, "tensors: ", absl::StrJoin(states, ", "), "; ",
                  BytesText(layout.num_bytes()), " without replicas\n");
  return text;
}

std::string RankTable(const Layout& layout, absl::Span<const int> ranks) {
  const std::vector<ShownAxis> axes = ShownAxes(layout);
  const std::vector<std::string> states = StatesOf(layout);
  std::vector<TextTable::Column> columns = {{"rank", Align::kRight}};
  for (const ShownAxis& axis : axes) {
    columns.push_back({axis.name, Align::kRight});
  }
  columns.insert(columns.end(), {{"layers"}, {"experts"}, {"besides"}});
  for (const std::string& state : states) {
    columns.push_back({state, Align::kRight});
  }
  columns.push_back({"bytes", Align::kRight});
  TextTable table(columns);
  for (int rank : ranks) {
    const Holdings holdings = HoldingsOf(layout, rank);
    std::vector<std::string> row = {absl::StrCat(rank)};
    for (const ShownAxis& axis : axes) {
      row.push_back(absl::StrCat(Coordinate(layout, axis, rank)));
    }
    row.push_back(Ranges(holdings.layers));
    row.push_back(Ranges(holdings.experts));
    row.push_back(
        holdings.outside.empty() ? "-" : absl::StrJoin(holdings.outside, ", "));
    for (const std::string& state : states) {
      const auto it = holdings.by_state.find(state);
      row.push_back(it == holdings.by_state.end() ? "-"
                                                  : AmountText(it->second));
    }
    row.push_back(BytesText(holdings.bytes));
    table.Add(std::move(row));
  }
  return table.Text();
}

std::vector<int> FirstRanksOfStages(const Layout& layout) {
  const vps::Mesh& mesh = layout.meshes()[0];
  const std::optional<int> pp = mesh.AxisIndex("pp");
  if (!pp.has_value()) return {0};
  std::vector<int> ranks;
  for (int stage = 0; stage < mesh.size(*pp); ++stage) {
    ranks.push_back(stage * mesh.stride(*pp));
  }
  return ranks;
}

std::string HoldingsTable(const api::LoadedLayout& loaded, int rank,
                          const std::vector<int>* tensors) {
  const Layout& layout = loaded.layout;
  TextTable table({{"tensor"},
                   {"state"},
                   {"dtype"},
                   {"whole"},
                   {"local"},
                   {"holds"},
                   {"in memory at"}});
  int tensor = -1, copy = -1;
  std::vector<std::string> row;
  const auto add = [&](const OwnedRegion& region) {
    if (region.tensor == tensor && region.copy == copy) {
      absl::StrAppend(&row[5], " ", region.global.DebugString());
      return;
    }
    if (!row.empty()) table.Add(std::move(row));
    tensor = region.tensor;
    copy = region.copy;
    const vps::TensorSpec& spec = layout.tensor(tensor);
    row = {copy == 0 ? spec.name()
                     : absl::StrCat(spec.name(), " (copy ", copy, ")"),
           spec.state(),
           std::string(DtypeName(spec.dtype())),
           ShapeText(spec.shape()),
           ShapeText(*layout.LocalShapeOf(rank, tensor, copy)),
           region.global.DebugString(),
           WhereText(layout, rank, tensor, copy, region.offset)};
  };
  if (tensors == nullptr) {
    layout.ForEachRegion(rank, add);
  } else {
    for (int chosen : *tensors) layout.ForEachRegionOf(rank, chosen, add);
  }
  const std::string head =
      absl::StrCat("rank ", rank, ": ", CoordinatesText(layout, rank), "\n");
  if (row.empty()) return absl::StrCat(head, "holds nothing of these\n");
  table.Add(std::move(row));
  return head + table.Text();
}

std::string OwnersText(const Layout& layout, int tensor) {
  const vps::TensorSpec& spec = layout.tensor(tensor);
  std::string text = absl::StrCat(spec.DebugString(), "\n");
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    if (layout.num_copies(tensor) > 1) {
      absl::StrAppend(&text, " copy ", copy, "\n");
    }
    text += CopyOwners(layout, tensor, copy);
  }
  return text;
}

}  // namespace dynatrain::cli
