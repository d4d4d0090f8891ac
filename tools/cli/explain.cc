#include "tools/cli/explain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "tools/cli/holders_text.h"
#include "tools/cli/text_table.h"
#include "vps/geometry/interval.h"
#include "vps/geometry/strided_run.h"
#include "vps/layout/layout.h"
#include "vps/layout/listed_copy.h"
#include "vps/layout/mesh.h"
#include "vps/layout/rank_group.h"

namespace dynatrain::cli {
namespace {

using vps::AxisGroup;
using vps::ChunkOf;
using vps::Cut;
using vps::Held;
using vps::Interval;
using vps::Layout;
using vps::Mesh;
using vps::Placement;

std::string ListText(absl::Span<const int64_t> numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

// What an axis is, for people who know one framework's word for it.
absl::string_view MeaningOf(absl::string_view axis) {
  constexpr std::pair<absl::string_view, absl::string_view> kMeanings[] = {
      {"pp", "pipeline stage"},
      {"tp", "tensor parallel rank"},
      {"cp", "context parallel rank"},
      {"dp", "data parallel rank"},
      {"ep", "expert parallel rank"},
      {"etp", "expert tensor parallel rank"},
      {"edp", "expert data parallel rank"},
      {"rep", "replica"}};
  for (const auto& [name, meaning] : kMeanings) {
    if (name == axis) return meaning;
  }
  return "";
}

std::string AxesText(const Mesh& mesh, const AxisGroup& group) {
  std::vector<std::string> names;
  for (int axis : group.axes) names.push_back(mesh.axes()[axis].name);
  return absl::StrJoin(names, " x ");
}

int RanksOf(const Mesh& mesh, const AxisGroup& group) {
  int ranks = 1;
  for (int axis : group.axes) ranks *= mesh.size(axis);
  return ranks;
}

int PiecesOf(const Mesh& mesh, const AxisGroup& group) {
  return group.pieces == 0 ? RanksOf(mesh, group) : group.pieces;
}

// The coordinates that have `number` in the group: "dp 1, cp 0". With several
// rounds of pieces, "dp x cp = 1 modulo 4".
std::string CoordinatesOfNumber(const Mesh& mesh, const AxisGroup& group,
                                int number) {
  if (PiecesOf(mesh, group) != RanksOf(mesh, group)) {
    return absl::StrCat(AxesText(mesh, group), " = ", number, " modulo ",
                        PiecesOf(mesh, group));
  }
  std::vector<std::string> parts;
  for (int i = static_cast<int>(group.axes.size()) - 1; i >= 0; --i) {
    const int axis = group.axes[i];
    parts.insert(parts.begin(), absl::StrCat(mesh.axes()[axis].name, " ",
                                             number % mesh.size(axis)));
    number /= mesh.size(axis);
  }
  return absl::StrJoin(parts, ", ");
}

// "17 x 64 + 5 = 1,093", the row-major position of an index.
std::string FlatText(absl::Span<const int64_t> index,
                     absl::Span<const int64_t> shape) {
  const int64_t flat = vps::FlatIndex(index, shape);
  if (index.size() < 2) return absl::StrCat("element ", Grouped(flat));
  std::vector<std::string> terms;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    std::string term = absl::StrCat(index[dim]);
    for (size_t inner = dim + 1; inner < shape.size(); ++inner) {
      absl::StrAppend(&term, " x ", shape[inner]);
    }
    terms.push_back(std::move(term));
  }
  return absl::StrCat("element ", absl::StrJoin(terms, " + "), " = ",
                      Grouped(flat));
}

// One copy of the element on its way down.
class Way {
 public:
  Way(const api::LoadedLayout& loaded, int tensor, int copy,
      const std::vector<int64_t>& index)
      : loaded_(loaded),
        layout_(loaded.layout),
        tensor_(tensor),
        copy_(copy),
        held_(layout_.held(tensor, copy)),
        placement_(layout_.placement(tensor, copy)),
        mesh_(layout_.meshes()[placement_.mesh]),
        whole_(index),
        local_(index) {
    const absl::Span<const int64_t> shape = layout_.tensor(tensor).shape();
    extents_.assign(shape.begin(), shape.end());
  }

  std::string Text() {
    if (!placement_.listed.empty()) {
      Listed();
      Store();
      Ranks();
      return std::move(text_);
    }
    Where();
    for (const Cut& cut : placement_.cuts) Apply(cut);
    if (placement_.cuts.empty()) {
      Step("cut", "nothing: a rank that has the tensor has all of it");
    }
    Flatten();
    Store();
    Ranks();
    return std::move(text_);
  }

 private:
  // A numbered step, and what explains it.
  void Step(absl::string_view title, absl::string_view what) {
    std::string head = absl::StrCat(" ", ++steps_, " ", title);
    head.resize(std::max<size_t>(head.size(), 12), ' ');
    absl::StrAppend(&text_, head, what, "\n");
  }
  void Line(absl::string_view what) {
    absl::StrAppend(&text_, std::string(12, ' '), what, "\n");
  }

  void Where() {
    if (placement_.located_by.empty()) {
      Step("where", "on every rank of the mesh, " + MeshText());
      return;
    }
    std::vector<std::string> at, of;
    for (int i = 0; i < placement_.located_by.size(); ++i) {
      const int axis = placement_.located_by[i];
      const std::string& name = mesh_.axes()[axis].name;
      const absl::string_view meaning = MeaningOf(name);
      at.push_back(absl::StrCat(name, " ", held_.at[i]));
      of.push_back(absl::StrCat(meaning.empty() ? name : meaning, " ",
                                held_.at[i], " of ", mesh_.size(axis)));
    }
    Step("where",
         absl::StrCat(absl::StrJoin(of, ", "), " of the mesh ", MeshText()));
    Line(absl::StrCat("-> ", absl::StrJoin(at, ", ")));
  }

  // In place of the steps up to memory, which a listing doesn't tell.
  void Listed() {
    const int rank = Owners().first();
    const int64_t part = layout_.PieceIndex(rank, tensor_, copy_);
    const vps::ListedMemory& memory = layout_.listed(tensor_, copy_)[part];
    const auto region =
        std::find_if(memory.regions.begin(), memory.regions.end(),
                     [&](const vps::ListedRegion& listed) {
                       return Contains(listed.global, whole_);
                     });
    const vps::Box& box = region->global;
    Step("listed",
         absl::StrCat(
             box.DebugString(), " lies at ", Grouped(region->offset),
             " of the local ",
             memory.local_shape.size() == whole_.size() ? "tensor " : "shard ",
             ListText(memory.local_shape)));
    offset_ = region->offset;
    std::vector<std::string> terms = {Grouped(region->offset)};
    for (int dim = 0; dim < box.dims(); ++dim) {
      const int64_t index = whole_[dim] - box.origin(dim);
      offset_ += index * region->strides[dim];
      terms.push_back(absl::StrCat("(", whole_[dim], " - ", box.origin(dim),
                                   ") x ", region->strides[dim]));
    }
    Line(absl::StrCat("-> ", absl::StrJoin(terms, " + "), " = ",
                      Grouped(offset_)));
  }

  static bool Contains(const vps::Box& box, absl::Span<const int64_t> index) {
    for (int dim = 0; dim < box.dims(); ++dim) {
      if (!box.interval(dim).Contains(index[dim])) return false;
    }
    return true;
  }

  std::string MeshText() const {
    std::vector<std::string> axes;
    for (const vps::MeshAxis& axis : mesh_.axes()) {
      axes.push_back(absl::StrCat(axis.name, " ", axis.size));
    }
    return absl::StrJoin(axes, " x ");
  }

  // Block number `block` of the cut in the rank's index space of its dim.
  static Interval BlockOf(const Cut& cut, int64_t extent, int block) {
    if (cut.block_extents.empty()) {
      return ChunkOf({0, extent}, cut.num_blocks, block);
    }
    int64_t begin = 0;
    for (int i = 0; i < block; ++i) begin += cut.block_extents[i];
    return {begin, begin + cut.block_extents[block]};
  }
  static int NumBlocks(const Cut& cut) {
    return cut.block_extents.empty()
               ? cut.num_blocks
               : static_cast<int>(cut.block_extents.size());
  }

  void Apply(const Cut& cut) {
    const int pieces = PiecesOf(mesh_, cut.group);
    const int64_t extent = extents_[cut.dim], index = local_[cut.dim];
    const int blocks = NumBlocks(cut);
    int block = 0;
    while (!BlockOf(cut, extent, block).Contains(index)) ++block;
    const Interval range = BlockOf(cut, extent, block);
    // torch's chunk rule, by which ChunkOf cuts.
    const int64_t piece_extent = (range.size() + pieces - 1) / pieces;
    const int64_t in_block = index - range.begin;
    const int piece = static_cast<int>(in_block / piece_extent);

    Step("cut",
         absl::StrCat(AxesText(mesh_, cut.group), " (", pieces,
                      " pieces) cuts ", extent, " indices of dim ", cut.dim,
                      blocks > 1 ? absl::StrCat(" in ", blocks,
                                                " blocks, each by itself")
                                 : ""));
    if (blocks > 1) {
      Line(absl::StrCat("index ", index, " is in block ", block, ", ",
                        DebugString(range), ", at ", index, " - ", range.begin,
                        " = ", in_block));
    }
    Line(absl::StrCat("a piece is ", range.size(), " / ", pieces,
                      range.size() % pieces != 0 ? ", rounded up," : "", " = ",
                      piece_extent, "; ", in_block, " / ", piece_extent,
                      " is piece ", piece, ", rest ",
                      in_block - piece * piece_extent));
    // Where the piece of the block begins among the pieces of all blocks.
    int64_t before = 0, after = 0;
    for (int i = 0; i < blocks; ++i) {
      const int64_t size =
          ChunkOf(BlockOf(cut, extent, i), pieces, piece).size();
      if (i < block) before += size;
      after += size;
    }
    local_[cut.dim] = before + in_block - piece * piece_extent;
    extents_[cut.dim] = after;
    Line(absl::StrCat("-> ", CoordinatesOfNumber(mesh_, cut.group, piece),
                      "; there it is index ",
                      before > 0
                          ? absl::StrCat(before, " + ",
                                         in_block - piece * piece_extent, " = ")
                          : "",
                      local_[cut.dim], " of ", after));
  }

  void Flatten() {
    const std::string local = absl::StrCat("local tensor ", ListText(extents_),
                                           ", ", FlatText(local_, extents_));
    offset_ = vps::FlatIndex(local_, extents_);
    if (!placement_.flat.has_value()) {
      Step("flatten", "nothing: the rank has its whole " + local);
      return;
    }
    const AxisGroup& group = placement_.flat->group;
    const auto [position, shard] = InRun();
    const int64_t in_run = position + offset_;
    const int64_t piece = in_run / shard;
    Step("flatten", local);
    Line(absl::StrCat(LanesText(), "it lies at ", Grouped(position),
                      " of a run that ", AxesText(mesh_, group), " (",
                      PiecesOf(mesh_, group), " pieces) cuts every ",
                      Grouped(shard), " elements"));
    NameRun();
    Line(absl::StrCat(Grouped(position), " + ", Grouped(offset_), " = ",
                      Grouped(in_run), "; / ", Grouped(shard), " is piece ",
                      piece, ", rest ", Grouped(in_run - piece * shard)));
    // The rank's memory of the tensor begins where both have begun.
    const int64_t begin = std::max(position, piece * shard);
    offset_ = in_run - begin;
    Line(absl::StrCat(
        "-> ", CoordinatesOfNumber(mesh_, group, static_cast<int>(piece)),
        "; its shard of the tensor begins at ", Grouped(begin),
        " of the run, so it is element ", Grouped(in_run), " - ",
        Grouped(begin), " = ", Grouped(offset_)));
  }

  vps::FlatPosition InRun() const {
    return layout_.FlatPositionOf(Owners().first(), tensor_, copy_);
  }

  // "on tp 1, " where that says where the tensor lies.
  std::string LanesText() const {
    if (placement_.lanes.empty()) return "";
    const vps::RankGroup group(mesh_, {placement_.lanes});
    return absl::StrCat("on ",
                        CoordinatesOfNumber(mesh_, {placement_.lanes},
                                            group.NumberOf(Owners().first())),
                        ", ");
  }

  // Where the run is a bucket of a flat buffer, which one.
  void NameRun() {
    if (!loaded_.live.buffers || !loaded_.live.name) return;
    const int rank = Owners().first();
    const std::string name = loaded_.live.name(rank, tensor_, copy_);
    for (const vps::ListedBuffer& buffer : loaded_.live.buffers(rank)) {
      for (const vps::ListedBuffer::Entry& entry : buffer.tensors) {
        if (entry.live_name != name) continue;
        for (size_t i = 0; i < buffer.buckets.size(); ++i) {
          const vps::ListedBuffer::Bucket& bucket = buffer.buckets[i];
          if (entry.begin - bucket.begin != InRun().position ||
              entry.begin >= bucket.end) {
            continue;
          }
          Line(absl::StrCat("the run is bucket ", i, " of buffer ", buffer.name,
                            ", [", Grouped(bucket.begin), ", ",
                            Grouped(bucket.end), ")"));
          return;
        }
      }
    }
  }

  void Store() {
    const int rank = Owners().first();
    const int64_t item_bytes = layout_.tensor(tensor_).item_bytes();
    const int buffer = layout_.BufferOf(rank, tensor_, copy_);
    if (buffer == vps::Storage::kOwnTensor) {
      Step("store", absl::StrCat("in a tensor of its own, at byte ",
                                 Grouped(offset_), " x ", item_bytes, " = ",
                                 Grouped(offset_ * item_bytes)));
      return;
    }
    const int64_t begin = layout_.BufferOffset(rank, tensor_, copy_);
    Step("store",
         absl::StrCat("in buffer ", layout_.buffers()[buffer],
                      ", where this begins at element ", Grouped(begin)));
    Line(absl::StrCat("-> byte (", Grouped(begin), " + ", Grouped(offset_),
                      ") x ", item_bytes, " = ",
                      Grouped((begin + offset_) * item_bytes)));
  }

  vps::HolderSet Owners() const {
    return layout_.Owners(tensor_, copy_, whole_);
  }

  void Ranks() {
    const vps::HolderSet owners = Owners();
    absl::StrAppend(&text_, " = ", HoldersText(owners));
    if (owners.size() > 1) {
      absl::StrAppend(&text_, ", which hold the same; ", owners.first(),
                      " is the authoritative one");
    }
    absl::StrAppend(&text_, "\n");
    if (!loaded_.live.name) return;
    const std::string name = loaded_.live.name(owners.first(), tensor_, copy_);
    if (name.empty()) return;
    absl::StrAppend(&text_, "   known there as ", name, "\n");
  }

  const api::LoadedLayout& loaded_;
  const Layout& layout_;
  const int tensor_;
  const int copy_;
  const Held& held_;
  const Placement& placement_;
  const Mesh& mesh_;
  const std::vector<int64_t> whole_;
  std::vector<int64_t> local_;    // index so far
  std::vector<int64_t> extents_;  // of the index space so far
  int64_t offset_ = 0;            // in the rank's own memory of the tensor
  int steps_ = 0;
  std::string text_;
};

absl::Status CheckIndex(const vps::TensorSpec& spec,
                        const std::vector<int64_t>& index) {
  if (index.size() != spec.shape().size()) {
    const std::vector<int> zeros(spec.shape().size());
    return absl::InvalidArgumentError(absl::StrCat(
        "--element: ", index.size(), index.size() == 1 ? " index" : " indices",
        "; ", spec.DebugString(), " takes ", zeros.size(), ", as in ",
        spec.name(), "[", absl::StrJoin(zeros, ","), "]"));
  }
  for (size_t dim = 0; dim < index.size(); ++dim) {
    if (index[dim] < 0 || index[dim] >= spec.shape()[dim]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--element: index ", index[dim], " of dim ", dim, " is not in 0..",
          spec.shape()[dim] - 1, " of ", spec.DebugString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ElementName> ParseElement(absl::string_view text) {
  const size_t bracket = text.rfind('[');
  if (bracket == absl::string_view::npos) return ElementName{std::string(text)};
  ElementName element = {std::string(text.substr(0, bracket)), {}};
  absl::string_view inside = text.substr(bracket + 1);
  if (!absl::ConsumeSuffix(&inside, "]")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--element: no ] at the end of ", text));
  }
  if (absl::StripAsciiWhitespace(inside).empty()) return element;
  for (absl::string_view part : absl::StrSplit(inside, ',')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--element: \"", absl::StripAsciiWhitespace(part),
          "\" is no index; write one number per dim, as in weight[17,5]"));
    }
    element.index.push_back(number);
  }
  return element;
}

absl::StatusOr<std::string> Explain(const api::LoadedLayout& loaded, int tensor,
                                    const std::vector<int64_t>& index) {
  const vps::TensorSpec& spec = loaded.layout.tensor(tensor);
  RETURN_IF_ERROR(CheckIndex(spec, index));
  std::string text = absl::StrCat(spec.name(), ListText(index), "\n  state ",
                                  spec.state(), ", ", DtypeName(spec.dtype()),
                                  " ", ListText(spec.shape()), "\n");
  if (spec.pad_from().has_value() && index[0] >= *spec.pad_from()) {
    absl::StrAppend(&text, "  row ", index[0], " is padding: rows from ",
                    *spec.pad_from(), " on are no tokens\n");
  }
  const int copies = loaded.layout.num_copies(tensor);
  for (int copy = 0; copy < copies; ++copy) {
    if (copies > 1) {
      absl::StrAppend(&text, "copy ", copy, " of ", copies,
                      copy == 0 ? ", the authoritative one" : "", ":\n");
    }
    text += Way(loaded, tensor, copy, index).Text();
  }
  return text;
}

}  // namespace dynatrain::cli
