#include "transition/stage/stage_contents.h"

#include <algorithm>
#include <utility>

#include "vps/geometry/box.h"
#include "vps/geometry/flat_interval.h"
#include "vps/geometry/interval.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// Whether b goes on along `dim` where a ends, and is like it in all others.
bool Continues(const Box& a, const Box& b, int dim) {
  for (int d = 0; d < a.dims(); ++d) {
    if (d == dim ? a.interval(d).end != b.origin(d)
                 : a.interval(d) != b.interval(d)) {
      return false;
    }
  }
  return true;
}

Box Extended(const Box& a, const Box& b, int dim) {
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  shape[dim] += b.extent(dim);
  return Box::CreateUnchecked(a.origin(), shape);
}

// By all dims but `dim`, then along it.
bool AlongLess(const Box& a, const Box& b, int dim) {
  for (int d = 0; d < a.dims(); ++d) {
    if (d == dim || a.interval(d) == b.interval(d)) continue;
    return std::pair(a.origin(d), a.extent(d)) <
           std::pair(b.origin(d), b.extent(d));
  }
  return a.origin(dim) < b.origin(dim);
}

// Disjoint boxes, those joined that make up a box. In ascending order.
std::vector<Box> JoinBoxes(std::vector<Box> boxes) {
  if (boxes.size() < 2) return boxes;
  for (int dim = boxes[0].dims() - 1; dim >= 0; --dim) {
    std::sort(boxes.begin(), boxes.end(),
              [&](const Box& a, const Box& b) { return AlongLess(a, b, dim); });
    std::vector<Box> joined;
    for (const Box& box : boxes) {
      if (!joined.empty() && Continues(joined.back(), box, dim)) {
        joined.back() = Extended(joined.back(), box, dim);
      } else {
        joined.push_back(box);
      }
    }
    boxes = std::move(joined);
  }
  std::sort(boxes.begin(), boxes.end());
  return boxes;
}

class Contents {
 public:
  Contents(const Moves& moves, const Lines& lines, size_t num_stages)
      : moves_(moves),
        lines_(lines),
        fragments_(num_stages),
        contents_(num_stages) {}

  void AddLine(const Line& line, const LineCut& cut,
               absl::Span<const int64_t> stage_ends) {
    LineCutter cutter(line, cut, moves_.item_bytes());
    auto atom = line.atoms.begin();
    int64_t atom_begin = 0;
    int64_t begin = 0;
    for (size_t stage = 0; stage < stage_ends.size(); ++stage) {
      const int64_t end =
          cutter.EndOf(std::min(stage_ends[stage], cut.num_parts));
      while (begin < end) {
        const int64_t atom_end = atom_begin + atom->bytes;
        AddAtom(*atom,
                {begin - atom_begin, std::min(end, atom_end) - atom_begin},
                stage);
        begin = std::min(end, atom_end);
        if (begin < atom_end) continue;
        atom_begin = atom_end;
        ++atom;
      }
    }
  }

  std::vector<StageContents> Finish() && {
    for (size_t stage = 0; stage < contents_.size(); ++stage) {
      contents_[stage].moves =
          JoinFragments(moves_, std::move(fragments_[stage]));
      std::sort(contents_[stage].frees.begin(), contents_[stage].frees.end());
    }
    AddWhatStays(moves_, contents_);
    return std::move(contents_);
  }

 private:
  // Bytes of the atom.
  void AddAtom(const LineAtom& atom, vps::Interval bytes, size_t stage) {
    const absl::Span<const int> members = lines_.MembersOf(atom);
    const std::vector<Holder> holders = FreedHolders(moves_, members);
    const auto add = [&](const Box& region) {
      for (const int move : members) {
        if (moves_.all()[move].adopted) continue;
        fragments_[stage].push_back({move, region});
      }
      for (const Holder& it : holders) {
        contents_[stage].frees.push_back(
            {it.rank, {atom.tensor, region, it.copy}});
      }
    };
    if (bytes.size() == atom.bytes) return add(atom.region);
    const int64_t item_bytes = moves_.item_bytes(atom.tensor);
    vps::ForEachBoxOfFlatInterval(
        atom.region.shape(), {bytes.begin / item_bytes, bytes.end / item_bytes},
        [&](const Box& box) { add(Shifted(box, atom.region)); });
  }

  static Box Shifted(const Box& box, const Box& by) {
    std::vector<int64_t> origin(box.origin().begin(), box.origin().end());
    for (int dim = 0; dim < box.dims(); ++dim) origin[dim] += by.origin(dim);
    return Box::CreateUnchecked(origin, box.shape());
  }

  const Moves& moves_;
  const Lines& lines_;
  std::vector<std::vector<MoveFragment>> fragments_;  // by stage
  std::vector<StageContents> contents_;
};

}  // namespace

std::vector<Move> JoinFragments(const Moves& moves,
                                std::vector<MoveFragment> fragments) {
  std::stable_sort(fragments.begin(), fragments.end(),
                   [](const MoveFragment& a, const MoveFragment& b) {
                     return a.move < b.move;
                   });
  std::vector<Move> joined;
  for (size_t i = 0; i < fragments.size();) {
    const int move = fragments[i].move;
    std::vector<Box> boxes;
    for (; i < fragments.size() && fragments[i].move == move; ++i) {
      boxes.push_back(fragments[i].region);
    }
    for (const Box& box : JoinBoxes(std::move(boxes))) {
      joined.push_back(moves.all()[move]);
      joined.back().piece.region = box;
    }
  }
  return joined;
}

void AddWhatStays(const Moves& moves, std::vector<StageContents>& stages) {
  for (const Move& move : moves.all()) {
    if (move.adopted) stages.front().moves.push_back(move);
    if (move.zero) stages.back().moves.push_back(move);
  }
}

std::vector<StageContents> ContentsOf(const Moves& moves, const Lines& lines,
                                      const LineCut& cut,
                                      absl::Span<const int64_t> stage_ends) {
  Contents contents(moves, lines, stage_ends.size());
  for (const Line& line : lines.lines) {
    contents.AddLine(line, cut, stage_ends);
  }
  return std::move(contents).Finish();
}

}  // namespace dynatrain::transition
